import CoreTesting
import Testing

@testable import Registry

@Suite("Starting features", .timeLimit(.minutes(5)))
struct StartTests {
    @Test("Each feature starts after what it needs has started")
    func order() async throws {
        let stage = try Stage([
            Runner<Gamma, Beta, Steady>.self, Runner<Beta, Alpha, Steady>.self, Runner<Alpha, Alpha, Steady>.self,
        ])
        await stage.lifecycle.start()
        #expect(stage.journal.entries == ["run alpha", "ok alpha", "run beta", "ok beta", "run gamma", "ok gamma"])
        #expect(stage.state("gamma") == .ok)
        await stage.lifecycle.stop()
    }

    @Test("A start also waits for needs behind a feature without background work")
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

    @Test("A failed feature stops only those that need it, which give the reason")
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

    @Test("A failure is passed on through a feature without background work")
    func failingByWay() async throws {
        let stage = try Stage([
            Runner<Alpha, Alpha, Failing>.self, Link<Beta, Alpha>.self, Runner<Gamma, Beta, Steady>.self,
        ])
        await stage.lifecycle.start()
        #expect(stage.state("beta") == .failed("needs alpha, which failed: it broke"))
        #expect(stage.state("gamma").word == "failed")
        #expect(stage.journal.entries == ["run alpha", "end alpha"])
    }

    @Test("A feature that never reports is ended after the limit, and those that need it do not start")
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
        // The cancellation error that the feature throws last does not hide why it was ended.
        #expect(stage.state("alpha") == .failed("did not start within 10s; it was ended"))
        #expect(stage.state("gamma") == .stopped)
    }

    @Test("A feature that reports just before the limit stays running")
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

    @Test("A feature that returns at once counts as started")
    func brief() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Brief>.self, Runner<Beta, Alpha, Steady>.self])
        await stage.lifecycle.start()
        #expect(stage.state("alpha") == .ok)
        #expect(stage.state("beta") == .ok)
        #expect(await stage.lifecycle.stop() == [])
        #expect(stage.state("alpha") == .stopped)
    }

    @Test("Starting twice runs nothing twice")
    func twice() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Steady>.self, Runner<Beta, Alpha, Steady>.self])
        await stage.lifecycle.start()
        await stage.lifecycle.start()
        #expect(stage.journal.entries == ["run alpha", "ok alpha", "run beta", "ok beta"])
        await stage.lifecycle.stop()
    }

    @Test("Features can be started again after a stop")
    func again() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Steady>.self])
        await stage.lifecycle.start()
        await stage.lifecycle.stop()
        await stage.lifecycle.start()
        #expect(stage.state("alpha") == .ok)
        #expect(stage.journal.entries == ["run alpha", "ok alpha", "end alpha", "run alpha", "ok alpha"])
        await stage.lifecycle.stop()
    }

    @Test("Starting a feature's closure starts nothing else")
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

    @Test("A cancelled start ends what is starting and begins nothing more")
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
