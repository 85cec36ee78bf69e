import CoreTesting
import Testing

@testable import Registry

@Suite("Stopping features", .timeLimit(.minutes(5)))
struct StopTests {
    @Test("Each feature stops after the features that need it")
    func reverse() async throws {
        let stage = try Stage([
            Runner<Alpha, Alpha, Steady>.self, Runner<Beta, Alpha, Steady>.self, Runner<Gamma, Beta, Steady>.self,
        ])
        await stage.lifecycle.start()
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.journal.entries.suffix(3) == ["end gamma", "end beta", "end alpha"])
        #expect(["alpha", "beta", "gamma"].map(stage.state) == [.stopped, .stopped, .stopped])
    }

    @Test("A feature that does not stop in time is abandoned and named, and the others stop")
    func stubborn() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Steady>.self, Runner<Beta, Alpha, Stubborn>.self])
        await stage.lifecycle.start()
        async let stuck = stage.lifecycle.stop()
        await stage.clock.waitForSleepers(1)
        #expect(stage.state("beta") == .stopping)
        stage.clock.advance(by: .seconds(5))
        #expect(await stuck == ["beta"])
        #expect(stage.state("beta") == .failed("did not stop within 5s; it was abandoned"))
        #expect(stage.state("alpha") == .stopped)
        stage.journal.door("leave").open()
    }

    @Test("An error after the cancellation is not a failure")
    func sulky() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Sulky>.self])
        await stage.lifecycle.start()
        #expect(stage.state("alpha") == .degraded("not quite well"))
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.state("alpha") == .stopped)
    }

    @Test("A failed feature stays failed when it is stopped")
    func failed() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Failing>.self])
        await stage.lifecycle.start()
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.state("alpha") == .failed("it broke"))
    }

    @Test("Stopping does nothing before a start, and nothing the second time")
    func nothing() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Steady>.self])
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.journal.entries.isEmpty)
        await stage.lifecycle.start()
        await stage.lifecycle.stop()
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.journal.entries == ["run alpha", "ok alpha", "end alpha"])
    }

    @Test("Each feature closes after those that need it, started or not; its last closing runs first")
    func closing() async throws {
        let stage = try Stage([
            Closer<Gamma, Beta>.self, Runner<Beta, Alpha, Steady>.self, Closer<Alpha, Alpha>.self,
        ])
        #expect(await stage.lifecycle.stop() == [])
        #expect(
            stage.journal.entries == [
                "close second gamma", "close first gamma", "close second alpha", "close first alpha",
            ])
        await stage.lifecycle.start()
        #expect(await stage.lifecycle.stop() == [])
        #expect(
            stage.journal.entries.dropFirst(4) == [
                "run beta", "ok beta", "close second gamma", "close first gamma", "end beta", "close second alpha",
                "close first alpha",
            ])
    }

    @Test("A feature that does not close in time is abandoned and named, and the others close")
    func stuckClosing() async throws {
        let stage = try Stage([Closer<Alpha, Alpha>.self, Closer<Beta, Alpha>.self])
        stage.journal.hold("close first beta")
        async let stuck = stage.lifecycle.stop()
        // Closing and its time limit are concurrent tasks, and either may begin first.
        while stage.journal.entries != ["close second beta"] { await Task.yield() }
        await stage.clock.waitForSleepers(1)
        stage.clock.advance(by: .seconds(5))
        #expect(await stuck == ["beta"])
        #expect(stage.state("beta") == .failed("was not closed within 5s; it was abandoned"))
        #expect(stage.journal.entries.last == "close first alpha")
        stage.journal.door("close first beta").open()
    }
}
