import CoreTesting
import Testing

@testable import Registry

@Suite("Starting features", .timeLimit(.minutes(5)))
struct StartTests {
    @Test("follows their needs, each after what it needs is well")
    func order() async throws {
        let stage = try Stage([
            Runner<Gamma, Beta, Steady>.self, Runner<Beta, Alpha, Steady>.self, Runner<Alpha, Alpha, Steady>.self,
        ])
        await stage.lifecycle.start()
        #expect(stage.journal.entries == ["run alpha", "ok alpha", "run beta", "ok beta", "run gamma", "ok gamma"])
        #expect(stage.state("gamma") == .ok)
        await stage.lifecycle.stop()
    }

    @Test("waits also for what is needed by way of a feature that does not run")
    func byWay() async throws {
        let stage = try Stage([
            Runner<Gamma, Beta, Steady>.self, Link<Beta, Alpha>.self, Runner<Alpha, Alpha, HeldBack>.self,
        ])
        async let started: Void = stage.lifecycle.start()
        await stage.clock.waitForSleepers(1)
        #expect(stage.state("alpha") == .starting)
        #expect(stage.state("gamma") != .starting)
        stage.journal.door("go").open()
        await started
        #expect(stage.journal.entries == ["run alpha", "ok alpha", "run gamma", "ok gamma"])
        await stage.lifecycle.stop()
    }

    @Test("goes on where one fails, except for those that need it, which say why")
    func failing() async throws {
        let stage = try Stage([
            Runner<Alpha, Alpha, Failing>.self, Runner<Beta, Alpha, Steady>.self, Runner<Gamma, Beta, Steady>.self,
            Runner<Delta, Delta, Steady>.self,
        ])
        await stage.lifecycle.start()
        #expect(stage.state("alpha") == .failed("it broke"))
        #expect(stage.state("beta") == .failed("needs alpha, which failed: it broke"))
        #expect(stage.state("gamma") == .failed("needs beta, which failed: needs alpha, which failed: it broke"))
        #expect(stage.state("delta") == .ok)
        #expect(!stage.journal.entries.contains("run beta"))
        #expect(!stage.journal.entries.contains("run gamma"))
        await stage.lifecycle.stop()
    }

    @Test("tells a failure on through a feature that does not run")
    func failingByWay() async throws {
        let stage = try Stage([
            Runner<Alpha, Alpha, Failing>.self, Link<Beta, Alpha>.self, Runner<Gamma, Beta, Steady>.self,
        ])
        await stage.lifecycle.start()
        #expect(stage.state("beta") == .failed("needs alpha, which failed: it broke"))
        #expect(stage.state("gamma").word == "failed")
        #expect(stage.journal.entries == ["run alpha", "end alpha"])
    }

    @Test("ends what never reports when its time is over, and whoever needs it does not start")
    func silent() async throws {
        let stage = try Stage([
            Runner<Alpha, Alpha, Silent>.self, Runner<Beta, Alpha, Steady>.self, Runner<Gamma, Gamma, HeldBack>.self,
        ])
        async let started: Void = stage.lifecycle.start()
        await stage.clock.waitForSleepers(2)
        stage.journal.door("go").open()
        await stage.wait(for: "gamma", toBe: .ok)
        stage.clock.advance(by: .seconds(10))
        await started
        #expect(stage.state("gamma") == .ok)
        #expect(stage.state("beta") == .failed("needs alpha, which failed: did not start within 10s; it was ended"))
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.journal.entries.contains("end alpha"))
        // Its own last words, those of somebody cancelled, do not hide why it was ended.
        #expect(stage.state("alpha") == .failed("did not start within 10s; it was ended"))
        #expect(stage.state("gamma") == .stopped)
    }

    @Test("leaves a feature alone that reports just before its time is over")
    func inTime() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, HeldBack>.self])
        async let started: Void = stage.lifecycle.start()
        await stage.clock.waitForSleepers(1)
        stage.clock.advance(by: .milliseconds(9999))
        #expect(stage.state("alpha") == .starting)
        stage.journal.door("go").open()
        await started
        #expect(stage.state("alpha") == .ok)
        #expect(stage.journal.entries == ["run alpha", "ok alpha"])
        await stage.lifecycle.stop()
    }

    @Test("counts a feature that returns at once as well")
    func brief() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Brief>.self, Runner<Beta, Alpha, Steady>.self])
        await stage.lifecycle.start()
        #expect(stage.state("alpha") == .ok)
        #expect(stage.state("beta") == .ok)
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.state("alpha") == .stopped)
    }

    @Test("twice runs nothing twice")
    func twice() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Steady>.self, Runner<Beta, Alpha, Steady>.self])
        await stage.lifecycle.start()
        await stage.lifecycle.start()
        #expect(stage.journal.entries == ["run alpha", "ok alpha", "run beta", "ok beta"])
        await stage.lifecycle.stop()
    }

    @Test("is possible again after a stop")
    func again() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Steady>.self])
        await stage.lifecycle.start()
        await stage.lifecycle.stop()
        await stage.lifecycle.start()
        #expect(stage.state("alpha") == .ok)
        #expect(stage.journal.entries == ["run alpha", "ok alpha", "end alpha", "run alpha", "ok alpha"])
        await stage.lifecycle.stop()
    }

    @Test("of one feature's closure starts no more than that")
    func subset() async throws {
        let stage = try Stage([
            Runner<Beta, Alpha, Steady>.self, Runner<Alpha, Alpha, Steady>.self, Runner<Gamma, Gamma, Steady>.self,
        ])
        await stage.lifecycle.start(stage.composition.closure(of: "beta"))
        #expect(stage.journal.entries == ["run alpha", "ok alpha", "run beta", "ok beta"])
        await stage.lifecycle.start()
        #expect(stage.journal.entries.suffix(2) == ["run gamma", "ok gamma"])
        await stage.lifecycle.stop()
    }

    @Test("that is cancelled ends what is starting and begins nothing more")
    func cancelled() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Silent>.self, Runner<Beta, Alpha, Steady>.self])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await stage.lifecycle.start() }
            await stage.clock.waitForSleepers(1)
            group.cancelAll()
        }
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.state("alpha") == .failed("was cancelled before it had started"))
        #expect(stage.journal.entries == ["run alpha", "end alpha"])
    }
}
