import Capabilities
import GatewayStore
import JSON
import Synchronization
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Turns while settings change")
struct ChangedSettingsTests {
    /// Tells when it is released.
    private final class Kept: Sendable {
        private let gone: @Sendable () -> Void

        init(gone: @escaping @Sendable () -> Void) { self.gone = gone }

        deinit { gone() }
    }

    /// Turns with other settings on the same store and the same running turns.
    private func turns(
        _ workshop: Workshop, _ model: ScriptedModel, _ running: RunningTurns, sources: [any ToolSource] = [],
        settings: TurnSettings = TurnSettings(), keeping: Kept? = nil
    ) -> Turns {
        Turns(
            store: workshop.store, providers: { [model] }, settings: settings, sources: { _, _ in sources },
            now: { Timestamp(microseconds: 1) }, running: running, keeping: keeping)
    }

    @Test("Turns with old settings are visible to and ended by new ones, and keep their settings until they end")
    func seen() async throws {
        let model = ScriptedModel("scripted", .call([.named("change")]), .hang("Once"))
        let tools = TestTools()
        try await Workshop.run(model) { workshop in
            let session = try await workshop.store.createSession(NewSession(project: workshop.project.id)).id
            let running = RunningTurns(clock: ContinuousClock(), now: { Timestamp(microseconds: 1) })
            let isGone = Mutex(false)
            var before: Turns? = turns(
                workshop, model, running, sources: [tools], keeping: Kept { isGone.withLock { $0 = true } })
            let now = turns(workshop, model, running)
            let open = try #require(try await before?.open(workshop.input("Go", session: session)))
            before = nil
            #expect(now.runningSessions == [session])
            var heard = Heard()
            while heard.tickets.isEmpty { heard = Heard(try #require(await open.next())) }
            let ticket = try #require(now.openApprovals(of: session).first)
            try now.answer(ticket.id, of: session, ApprovalAnswer(isAllowed: true))
            while let events = await open.next(), !events.contains(.chat(.text("Once"))) {}
            #expect(tools.done.map(\.name) == ["change"])
            #expect(!isGone.withLock { $0 })
            let kind = try await refusal { _ = try await now.run(workshop.input("Me too", session: session)) { _ in } }
            #expect(kind == .sessionBusy)
            #expect(try await now.stop(session: session))
            _ = try await open.report()
            #expect(now.running == 0)
            #expect(isGone.withLock { $0 })
            await now.close()
        }
    }

    @Test("Closing the gateway ends turns with any settings and refuses new ones")
    func closed() async throws {
        let model = ScriptedModel("scripted", .hang("Once"))
        try await Workshop.run(model) { workshop in
            let running = RunningTurns(clock: ContinuousClock(), now: { Timestamp(microseconds: 1) })
            let (before, now) = (turns(workshop, model, running), turns(workshop, model, running))
            let open = try await before.open(workshop.input("Go"))
            await now.close()
            #expect(before.running == 0)
            let report = try await open.report()
            #expect(report.outcome.end.word == "stopped")
            for turns in [before, now] {
                #expect(try await refusal { _ = try await turns.run(workshop.input("More")) { _ in } } == .closing)
            }
        }
    }
}
