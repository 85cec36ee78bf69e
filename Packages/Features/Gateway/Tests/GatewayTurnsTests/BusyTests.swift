import Capabilities
import GatewayStore
import JSON
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Busy sessions")
struct BusyTests {
    @Test("A session answers one request at a time, across all gateways")
    func busy() async throws {
        let model = ScriptedModel("scripted", .hang("Once"), .say("free again"))
        try await Workshop.run(model) { workshop in
            let session = try await workshop.store.createSession(NewSession(project: workshop.project.id)).id
            // A second gateway with the same database, like another process.
            let other = GatewayStore(
                GatewayStore.database(at: "\(workshop.folder)/gateway.db"), now: { Timestamp(microseconds: 1) })
            let others = Turns(store: other, providers: { [model] }, now: { Timestamp(microseconds: 1) })
            let said = Promise<Void>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = try await workshop.turns.run(workshop.input("Go", session: session)) { events in
                        if events.contains(.chat(.text("Once"))) { said.settle(()) }
                    }
                }
                try await said.value()
                for turns in [workshop.turns, others] {
                    let kind = try await refusal {
                        _ = try await turns.run(workshop.input("Me too", session: session)) { _ in }
                    }
                    #expect(kind == .sessionBusy)
                    #expect(try await turns.status(session: session).isRunning)
                }
                #expect(try await others.stop(session: session) == false)
                #expect(try await workshop.turns.stop(session: session))
                try await group.waitForAll()
            }
            #expect(try await others.run(workshop.input("Now", session: session)) { _ in }.text == "free again")
            #expect(try await workshop.history(session).count == 4)
            await others.close()
            await other.close()
        }
    }
}
