import CHTTPClient
import Glibc
import HTTPCore
import Synchronization

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
            let failure = HTTPError(.closed, "the client was closed before the answer was complete")
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
                throw HTTPError(.invalid, "libcurl refuses the request (\(code.rawValue))", mayHaveBeenSent: false)
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
