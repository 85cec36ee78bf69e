import Glibc
import LoopKit
import ProcessKit
import Testing

@Suite("Other processes", .timeLimit(.minutes(5))) struct OtherProcessTests {
    @Test("Another process can be asked to end, and its end can be awaited")
    func ends() async throws {
        let loop = EventLoop()
        defer { loop.stop() }
        var command = script("echo ready; exec sleep 600")
        command.output = .pipe
        try await Launcher.standalone.withChild(command) { child in
            _ = try await child.output.read()
            let other = try #require(try OtherProcess(child.processID, loop: loop))
            #expect(other.start == OtherProcess.start(of: child.processID))
            #expect(try await !other.ended(by: .now + .milliseconds(20)))
            #expect(try other.send(.terminate))
            #expect(try await other.ended(by: .now + .seconds(20)))
        }
    }

    @Test("A process that has ended is not found and gets no signal")
    func gone() async throws {
        let loop = EventLoop()
        defer { loop.stop() }
        let held = try await Launcher.standalone.withChild(script("exec sleep 600")) { child in
            let other = try #require(try OtherProcess(child.processID, loop: loop))
            return (other, child.processID)
        }
        #expect(try !held.0.send(.terminate))
        #expect(try await held.0.ended(by: .now))
        #expect(try OtherProcess(held.1, loop: loop) == nil)
        #expect(OtherProcess.start(of: held.1) == nil)
        #expect(try OtherProcess(-1, loop: loop) == nil)
    }

    @Test("A wait for another process can be cancelled")
    func cancelled() async throws {
        let loop = EventLoop()
        defer { loop.stop() }
        let own = try #require(try OtherProcess(getpid(), loop: loop))
        let waiting = Task { try await own.ended(by: .now + .seconds(600)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}
