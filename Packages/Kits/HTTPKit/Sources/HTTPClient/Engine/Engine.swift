import CHTTPClient
import Glibc
import HTTPCore
import LoopKit
import Synchronization

/// One pool of connections and its thread.
///
/// The thread starts with the first request. A retired pool finishes its running requests, accepts no new ones, and
/// ends. A connection made under one trust is therefore never used under another.
final class Engine: Sendable {
    enum Command: Sendable {
        case start(Transfer)
        /// The reader has taken the bytes.
        case resume(Transfer)
        /// The writer has brought bytes.
        case feed(Transfer)
        case cancel(Transfer)
    }

    struct State {
        enum Stage { case idle, running, ended }

        var stage = Stage.idle
        var commands: [Command] = []
        var waker: MultiHandle.Waker?
        /// The thread is waiting, or about to wait, and must be woken for a command.
        var isAsleep = false
        var isRetired = false
        var isClosed = false
        var closers: [Suspension] = []
    }

    let setup: ConnectionSetup
    let userAgent: String
    let state = Mutex(State())

    init(setup: ConnectionSetup, userAgent: String) {
        self.setup = setup
        self.userAgent = userAgent
    }

    /// Starts an attempt. Nil if the pool was retired; the caller must then use its successor.
    func start(_ plan: TransferPlan) throws(HTTPError) -> Transfer? {
        let transfer = Transfer(plan, on: self)
        let (isTaken, mustStart) = state.withLock { state in
            guard !state.isRetired else { return (false, false) }
            append(.start(transfer), to: &state)
            guard state.stage == .idle else { return (true, false) }
            state.stage = .running
            return (true, true)
        }
        if mustStart { try startThread() }
        return isTaken ? transfer : nil
    }

    func post(_ command: Command) {
        state.withLock { state in
            guard state.stage != .ended else { return }
            append(command, to: &state)
        }
    }

    /// Accepts no new requests; the thread ends after the last running one.
    func retire() {
        state.withLock { state in
            state.isRetired = true
            wakeIfAsleep(&state)
        }
    }

    /// Ends every running request and returns when the thread has ended.
    func close() async {
        await Suspension.wait { task in
            state.withLock { state in
                state.isRetired = true
                state.isClosed = true
                guard state.stage == .running else { return false }
                wakeIfAsleep(&state)
                state.closers.append(task)
                return true
            }
        }
    }

    private func append(_ command: Command, to state: inout State) {
        state.commands.append(command)
        wakeIfAsleep(&state)
    }

    private func wakeIfAsleep(_ state: inout State) {
        guard state.isAsleep else { return }
        state.isAsleep = false
        state.waker?.wake()
    }

    private func startThread() throws(HTTPError) {
        do throws(LoopError) {
            // The thread is not joined: it ends by itself and notifies `close`.
            _ = try OwnThread { self.run() }
        } catch {
            let failure = HTTPError(.invalid, error.message, mayHaveBeenSent: false, cause: error)
            end(failure)
            throw failure
        }
    }

    private func run() {
        do throws(HTTPError) {
            let multi = try MultiHandle()
            state.withLock { $0.waker = multi.waker }
            let loop = EngineLoop(self, multi)
            loop.run()
            // The loop owns the handle and must outlive the waker, so that no released handle is woken.
            withExtendedLifetime(loop) { state.withLock { $0.waker = nil } }
        } catch {
            return end(error)
        }
        end(HTTPError(.closed, "the client was closed before the request was sent", mayHaveBeenSent: false))
    }

    /// Whether the thread has ended or will never start.
    var hasEnded: Bool { state.withLock { $0.stage == .ended || $0.isRetired && $0.stage == .idle } }

    /// Fails requests that have not started, and resumes the tasks that wait for the end.
    private func end(_ failure: HTTPError) {
        let (commands, closers) = state.withLock { state in
            state.stage = .ended
            state.isRetired = true
            defer { (state.commands, state.closers) = ([], []) }
            return (state.commands, state.closers)
        }
        for case .start(let transfer) in commands {
            if case .pipe(let pipe) = transfer.plan.upload { pipe.close() }
            transfer.finish(.failure(failure))
        }
        for closer in closers { closer.resume() }
    }
}

/// The work of the engine's thread: commands, libcurl, waking readers, limits, sleep. It never leaves that thread.
final class EngineLoop {
    private let engine: Engine
    private let multi: MultiHandle
    private var jobs: [ObjectIdentifier: Job] = [:]
    private var spare: [EasyHandle] = []
    /// Jobs with bytes that their readers do not know of yet.
    private var listed: [Job] = []
    /// A transfer ended in this turn.
    private var hasEnded = false
    /// Body bytes received in this turn.
    private var received = 0
    private var burst = Burst()
    /// No limit expires before this time.
    private var nearest = Int64.max
    private(set) var now = EngineLoop.time()

    init(_ engine: Engine, _ multi: consuming MultiHandle) {
        self.engine = engine
        self.multi = multi
    }

    func run() {
        while takeCommands() {
            received = 0
            multi.perform()
            finishDone()
            flush(all: false)
            enforceLimits()
            if burst.isOn {
                flush(all: true)
                Self.pause(nanoseconds: Burst.rest)
                burst.turn(brought: received, waited: 0)
                continue
            }
            // Readers that get bytes in every turn are woken later, with more bytes at once, at the latest when there
            // is nothing left to read.
            if !listed.isEmpty, multi.poll(milliseconds: 0) > 0 {
                burst.turn(brought: received, waited: 0)
                continue
            }
            flush(all: true)
            awaitNext()
            let start = Self.time()
            sleep()
            burst.turn(brought: received, waited: Self.time() - start)
        }
    }

    /// Counts bytes received for a job.
    func count(_ bytes: Int) {
        received += bytes
    }

    /// Lists a job whose reader is woken at the end of the turn.
    func list(_ job: Job) {
        job.isListed = true
        listed.append(job)
    }

    /// Records a limit that may expire before the known ones.
    func heed(_ clock: TransferClock) {
        nearest = min(nearest, clock.deadline)
    }

    private static func pause(nanoseconds: Int64) {
        var time = timespec(tv_sec: 0, tv_nsec: Int(nanoseconds))
        _ = unsafe nanosleep(&time, nil)
    }

    private static func time() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

// MARK: Commands.

extension EngineLoop {
    /// False when the thread should end.
    private func takeCommands() -> Bool {
        // Updated in every turn: while commands keep coming, the thread does not sleep, and only sleep updates it
        // otherwise.
        now = Self.time()
        let (commands, isRetired, isClosed) = engine.state.withLock { state in
            state.isAsleep = false
            defer { state.commands.removeAll(keepingCapacity: true) }
            return (state.commands, state.isRetired, state.isClosed)
        }
        for command in commands {
            // This request may be the answer to the last piece.
            if case .resume = command {} else { burst = Burst() }
            switch command {
            case .start(let transfer): start(transfer)
            case .resume(let transfer): jobs[ObjectIdentifier(transfer)]?.resume()
            case .feed(let transfer): jobs[ObjectIdentifier(transfer)]?.feed()
            case .cancel(let transfer):
                if let job = jobs[ObjectIdentifier(transfer)] { end(job, .failure(.internalEnd)) }
            }
        }
        if isClosed {
            let failure = HTTPError(.closed, "the client was closed before the response was complete")
            for job in Array(jobs.values) { end(job, .failure(failure)) }
        }
        return !isRetired || !jobs.isEmpty
    }

    private func start(_ transfer: Transfer) {
        if transfer.isCancelled {
            if case .pipe(let pipe) = transfer.plan.upload { pipe.close() }
            return
        }
        do throws(HTTPError) {
            let easy: EasyHandle = if let used = spare.popLast() { used } else { try EasyHandle() }
            let job = Job(transfer, easy, in: self)
            try job.configure(engine.setup, userAgent: engine.userAgent)
            let code = multi.add(easy)
            guard code == CURLM_OK else {
                throw HTTPError(.invalid, "libcurl rejects the request (\(code.rawValue))", mayHaveBeenSent: false)
            }
            jobs[ObjectIdentifier(transfer)] = job
            heed(job.clock)
            if case .pipe(let pipe) = transfer.plan.upload {
                pipe.onBytes { [engine] in engine.post(.feed(transfer)) }
            }
        } catch {
            if case .pipe(let pipe) = transfer.plan.upload { pipe.close() }
            transfer.finish(.failure(error))
        }
    }
}

// MARK: The end of transfers.

extension EngineLoop {
    private func finishDone() {
        while let (context, code) = unsafe multi.nextFinished() {
            let job = unsafe Unmanaged<Job>.fromOpaque(context).takeUnretainedValue()
            // If one address was refused, libcurl has tried the others.
            let refusal = code == CURLE_COULDNT_CONNECT ? job.gate?.refusal : nil
            if let failure = job.failure ?? refusal {
                end(job, .failure(failure))
            } else if code != CURLE_OK {
                end(job, .failure(HTTPError(code, of: job)))
            } else {
                end(job, job.isWhole ? .success(()) : .failure(HTTPError(cut: job)))
            }
        }
    }

    private func end(_ job: Job, _ result: Result<Void, HTTPError>) {
        guard jobs.removeValue(forKey: ObjectIdentifier(job.transfer)) != nil else { return }
        hasEnded = true
        burst = Burst()
        multi.remove(job.easy)
        if case .pipe(let pipe) = job.plan.upload { pipe.close() }
        job.plan.onProgress?(job.progress)
        job.transfer.finish(result)
        if spare.count < 64, job.easy.reset() { spare.append(job.easy) }
    }

    private func enforceLimits() {
        guard now >= nearest else { return }
        nearest = .max
        for job in Array(jobs.values) {
            if let kind = job.clock.passed(now: now) {
                end(job, .failure(HTTPError(timedOut: kind, job)))
            } else {
                heed(job.clock)
            }
        }
    }
}

// MARK: Readers and sleep.

extension EngineLoop {
    private func flush(all: Bool) {
        guard !listed.isEmpty else { return }
        var kept: [Job] = []
        for job in listed {
            if job.isFresh, !all {
                job.isFresh = false
                kept.append(job)
            } else {
                job.isListed = false
                job.transfer.wakeReader()
                job.plan.onProgress?(job.progress)
            }
        }
        listed = kept
    }

    /// A caller that sends requests one after the other brings the next within microseconds. Sleeping and waking would
    /// take longer, so the thread yields the processor instead.
    private func awaitNext() {
        guard hasEnded else { return }
        hasEnded = false
        let end = Self.time() + 20_000
        while Self.time() < end, engine.state.withLock({ $0.commands.isEmpty && !$0.isRetired }) { sched_yield() }
    }

    private func sleep() {
        let mayWait = engine.state.withLock { state in
            guard state.commands.isEmpty, !state.isClosed, !state.isRetired || !jobs.isEmpty else { return false }
            state.isAsleep = true
            return true
        }
        guard mayWait else { return }
        let wait = nearest == .max ? 3_600_000 : min(max((nearest - now) / 1_000_000 + 1, 0), 3_600_000)
        _ = multi.poll(milliseconds: Int32(wait))
    }
}

/// Detects small pieces that follow each other so fast that it is better to collect some.
///
/// A server may send each piece in a separate packet, and the next before this thread has fallen asleep. Waking up for
/// each would take most of the processor time of such a stream.
struct Burst: Sendable {
    /// How long the thread leaves the sockets alone, in nanoseconds: too short to notice, and too short to fill a
    /// receive buffer at the rate of a burst.
    static let rest: Int64 = 2_000_000
    /// A piece that the thread waited longer for is not part of a burst, in nanoseconds.
    static let pause: Int64 = 100_000
    /// This many bytes in one turn mean large pieces, a download, which is best read while still in the processor's
    /// cache.
    static let large = 16 << 10
    /// More bytes than this in one rest also mean a download.
    static let most = 1 << 20
    /// The number of such turns in a row that make a burst.
    static let turns = 8

    private var count = 0

    /// Whether the thread should rest before it reads again.
    var isOn: Bool { count >= Self.turns }

    /// Records a turn: the body bytes it brought, and the nanoseconds until there was work again.
    mutating func turn(brought bytes: Int, waited: Int64) {
        let isFast = bytes > 0 && bytes < (isOn ? Self.most : Self.large) && waited < Self.pause
        // One late turn, when other threads had the processor, does not end a burst.
        count = isFast ? min(count + 1, 2 * Self.turns) : count / 2
    }
}
