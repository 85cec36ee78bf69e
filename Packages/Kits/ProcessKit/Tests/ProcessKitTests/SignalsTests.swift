import Glibc
import ProcessKit
import Testing

/// Delivers a signal on this thread before it returns; the threads that run tasks block most signals.
private func deliver(_ signal: Int32) {
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
    raise(signal)
}

/// Signal handlers belong to the process, so each test runs in its own.
@Suite("Signals", .timeLimit(.minutes(5)))
struct SignalsTests {
    @Test("Signals arrive in order, and polling reports them")
    func order() async {
        await #expect(processExitsWith: .success) {
            let signals = try Signals.install([.interrupt, .terminate, .hangUp])
            #expect(signals.next() == nil)
            for signal in [SIGTERM, SIGINT, SIGHUP] { deliver(signal) }
            var poll = pollfd(fd: signals.fileDescriptor, events: Int16(POLLIN), revents: 0)
            #expect(unsafe Glibc.poll(&poll, 1, 0) == 1)
            #expect([signals.next(), signals.next(), signals.next()] == [.terminate, .interrupt, .hangUp])
            #expect(signals.next() == nil)
        }
    }

    @Test("A task can wait for a signal without polling")
    func received() async {
        await #expect(processExitsWith: .success) {
            let signals = try Signals.install([.terminate])
            let received = try signals.received
            let waiting = Task { await received.next() }
            kill(getpid(), SIGTERM)
            #expect(await waiting.value == .terminate)
        }
    }

    @Test("A cancelled wait for signals ends")
    func cancelled() async {
        await #expect(processExitsWith: .success) {
            let signals = try Signals.install([.terminate])
            let received = try signals.received
            let waiting = Task {
                for await _ in received { Issue.record("no signal was sent") }
            }
            waiting.cancel()
            await waiting.value
        }
    }

    @Test("A second interrupt runs the restore hook and ends the process with 130")
    func secondInterrupt() async throws {
        let result = await #expect(processExitsWith: .exitCode(130), observing: [\.standardOutputContent]) {
            let signals = try Signals.install([.interrupt])
            signals.setRestoreHook { _ = unsafe write(1, "restored", 8) }
            deliver(SIGINT)
            #expect(signals.next() == .interrupt)
            deliver(SIGINT)
        }
        let output = try #require(result?.standardOutputContent)
        #expect(String(decoding: output, as: UTF8.self).contains("restored"))
    }

    @Test("An interrupt that was acknowledged does not count")
    func acknowledged() async {
        await #expect(processExitsWith: .success) {
            let signals = try Signals.install([.interrupt])
            for _ in 0..<3 {
                deliver(SIGINT)
                #expect(signals.next() == .interrupt)
                signals.acknowledgeInterrupt()
            }
        }
    }

    @Test("Only one value can catch signals, and its release restores the former handlers")
    func restored() async {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            var signals: Signals? = try Signals.install([.terminate])
            let error = #expect(throws: ProcessError.self) { try Signals.install([.hangUp]) }
            #expect(error?.kind == .signalsInUse)
            deliver(SIGTERM)
            #expect(signals?.next() == .terminate)
            signals = nil
            signals = try Signals.install([.hangUp])
            #expect(signals?.next() == nil)
            deliver(SIGTERM)
        }
    }

    @Test("A write to a closed pipe is an error and does not end the process")
    func brokenPipe() async {
        await #expect(processExitsWith: .success) {
            let signals = try Signals.install([])
            var ends: [Int32] = [0, 0]
            try #require(unsafe pipe(&ends) == 0)
            close(ends[0])
            #expect(unsafe write(ends[1], "x", 1) == -1)
            #expect(errno == EPIPE)
            withExtendedLifetime(signals) {}
        }
    }
}
