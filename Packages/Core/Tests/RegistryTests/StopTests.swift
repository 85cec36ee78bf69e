import CoreTesting
import Registry
import Testing

@Suite("Stopping features", .timeLimit(.minutes(5)))
struct StopTests {
    @Test("goes in reverse, each after what needs it has ended")
    func reverse() async throws {
        let stage = try Stage([
            Runner<Alpha, Alpha, Steady>.self, Runner<Beta, Alpha, Steady>.self, Runner<Gamma, Beta, Steady>.self,
        ])
        await stage.lifecycle.start()
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.journal.entries.suffix(3) == ["end gamma", "end beta", "end alpha"])
        #expect(["alpha", "beta", "gamma"].map(stage.state) == [.stopped, .stopped, .stopped])
    }

    @Test("abandons what does not end in time, names it, and stops the others")
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

    @Test("takes an error for the echo of the cancellation and not for a failure")
    func sulky() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Sulky>.self])
        await stage.lifecycle.start()
        #expect(stage.state("alpha") == .degraded("not quite well"))
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.state("alpha") == .stopped)
    }

    @Test("leaves visible what failed before")
    func failed() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Failing>.self])
        await stage.lifecycle.start()
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.state("alpha") == .failed("it broke"))
    }

    @Test("without a start, or twice, does nothing")
    func nothing() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Steady>.self])
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.journal.entries.isEmpty)
        await stage.lifecycle.start()
        await stage.lifecycle.stop()
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.journal.entries == ["run alpha", "ok alpha", "end alpha"])
    }
}
