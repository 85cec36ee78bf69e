import CHTTPClient
import Glibc
import HTTPCore
import LoopKit
import Synchronization

/// One pool of connections and the thread that works it.
///
/// The thread starts with the first request. A pool that was retired finishes what runs, takes nothing new, and ends;
/// so what one trust decided is never used under another.
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
        /// The thread is in its wait, or about to be, and must be woken for a command.
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

    /// Begins a try. Nil when the pool was retired meanwhile, and the caller must use its successor.
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

    /// Takes no new request; the thread ends with the last that runs.
    func retire() {
        state.withLock { state in
            state.isRetired = true
            wakeIfAsleep(&state)
        }
    }

    /// Ends every request that runs, and returns when the thread has ended.
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
            // Nobody joins it: it ends by itself, and `close` is told when.
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
            // Nobody may wake a handle that is gone, so the loop, which owns it, outlives the waker.
            withExtendedLifetime(loop) { state.withLock { $0.waker = nil } }
        } catch {
            return end(error)
        }
        end(HTTPError(.closed, "the client was closed before the request was sent", mayHaveBeenSent: false))
    }

    /// Whether the thread has ended, or will never begin.
    var hasEnded: Bool { state.withLock { $0.stage == .ended || $0.isRetired && $0.stage == .idle } }

    /// Fails what was still to be started, and tells those who wait for the end.
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

/// What the engine's thread does: commands, libcurl, readers to be woken, limits, sleep. It never leaves that thread.
final class EngineLoop {
    private let engine: Engine
    private let multi: MultiHandle
    private var jobs: [ObjectIdentifier: Job] = [:]
    private var spare: [EasyHandle] = []
    /// Jobs with bytes of which the reader was not told yet.
    private var listed: [Job] = []
    /// A transfer has ended in the present turn.
    private var hasEnded = false
    /// Bytes of bodies that the present turn has brought.
    private var received = 0
    private var burst = Burst()
    /// No limit is passed before this moment.
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
            // Who still gets bytes in every turn is woken later, with more at once; nobody waits for that longer than
            // until there is nothing to read.
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

    /// Takes note of bytes that came for a job.
    func count(_ bytes: Int) {
        received += bytes
    }

    /// Puts a job on the list of those whose readers are told at the end of the turn.
    func list(_ job: Job) {
        job.isListed = true
        listed.append(job)
    }

    /// Takes note of a limit that may come earlier than those known.
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
    /// False when the thread is to end.
    private func takeCommands() -> Bool {
        // In every turn: while commands keep coming there is no sleep after which it would be renewed.
        now = Self.time()
        let (commands, isRetired, isClosed) = engine.state.withLock { state in
            state.isAsleep = false
            defer { state.commands.removeAll(keepingCapacity: true) }
            return (state.commands, state.isRetired, state.isClosed)
        }
        for command in commands {
            // What is asked for now may be what the next piece answers.
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
            // Where one of several addresses was refused, libcurl has tried the others.
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

    /// Who sends one request after the other brings the next within microseconds of the end of the last. To fall asleep
    /// and be woken for it would take longer than it does; others who want the processor get it meanwhile.
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

/// Tells when small pieces follow each other so fast that it is better to let some come together.
///
/// A server may send each piece in a packet of its own, and the next before this thread has fallen asleep. Most of the
/// processor time of such a stream would go into waking up for each of them.
struct Burst: Sendable {
    /// How long the thread stays away from the sockets, in nanoseconds: too short to be seen, and too short for a receive
    /// buffer to be full at a rate that counts as a burst.
    static let rest: Int64 = 2_000_000
    /// A piece for which the thread waited longer is not part of a burst, in nanoseconds.
    static let pause: Int64 = 100_000
    /// Who brings as much in one turn is fast because its pieces are large: a download, which is read best while it is
    /// still in the processor's cache.
    static let large = 16 << 10
    /// More than this in one rest is such a download, too.
    static let most = 1 << 20
    /// So many turns follow each other before it is one.
    static let turns = 8

    private var count = 0

    /// Whether the thread should rest before it reads again.
    var isOn: Bool { count >= Self.turns }

    /// A turn of the thread brought so many bytes of bodies, and so many nanoseconds went by until there was something to
    /// do again.
    mutating func turn(brought bytes: Int, waited: Int64) {
        let isFast = bytes > 0 && bytes < (isOn ? Self.most : Self.large) && waited < Self.pause
        // One turn that is late, because others had the processor, does not end it.
        count = isFast ? min(count + 1, 2 * Self.turns) : count / 2
    }
}
