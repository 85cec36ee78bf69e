import CoreTesting
import Testing

@testable import Registry

@Suite("Stopping features", .timeLimit(.minutes(5)))
struct StopTests {
    @Test("stops each feature after the features that need it")
    func reverse() async throws {
        let stage = try Stage([
            Runner<Alpha, Alpha, Steady>.self, Runner<Beta, Alpha, Steady>.self, Runner<Gamma, Beta, Steady>.self,
        ])
        await stage.lifecycle.start()
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.journal.entries.suffix(3) == ["end gamma", "end beta", "end alpha"])
        #expect(["alpha", "beta", "gamma"].map(stage.state) == [.stopped, .stopped, .stopped])
    }

    @Test("abandons a feature that does not stop in time, names it, and stops the others")
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

    @Test("does not count an error after the cancellation as a failure")
    func sulky() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Sulky>.self])
        await stage.lifecycle.start()
        #expect(stage.state("alpha") == .degraded("not quite well"))
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.state("alpha") == .stopped)
    }

    @Test("keeps the state of a feature that failed before")
    func failed() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Failing>.self])
        await stage.lifecycle.start()
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.state("alpha") == .failed("it broke"))
    }

    @Test("does nothing before a start, and nothing the second time")
    func nothing() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Steady>.self])
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.journal.entries.isEmpty)
        await stage.lifecycle.start()
        await stage.lifecycle.stop()
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.journal.entries == ["run alpha", "ok alpha", "end alpha"])
    }

    @Test("closes each feature, started or not, after the features that need it; its last closing runs first")
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

    @Test("abandons a feature that does not close in time, names it, and closes the others")
    func stuckClosing() async throws {
        let stage = try Stage([Closer<Alpha, Alpha>.self, Closer<Beta, Alpha>.self])
        stage.journal.hold("close first beta")
        async let stuck = stage.lifecycle.stop()
        // Closing and its limit are tasks beside each other, and either may begin first.
        while stage.journal.entries != ["close second beta"] { await Task.yield() }
        await stage.clock.waitForSleepers(1)
        stage.clock.advance(by: .seconds(5))
        #expect(await stuck == ["beta"])
        #expect(stage.state("beta") == .failed("was not closed within 5s; it was abandoned"))
        #expect(stage.journal.entries.last == "close first alpha")
        stage.journal.door("close first beta").open()
    }
}
