import Capabilities
import CoreTesting
import GatewayStore
import JSON
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Calls of the gateway in the audit log", .timeLimit(.minutes(5)))
struct AuditTests {
    struct Full: Failure {
        let code = "storage.full"
        let message = "no space left for audit.db"
    }

    @Test(
        "A call that writes does not run if the log cannot be written, and the model is told", arguments: [false, true])
    func full(isFull: Bool) async throws {
        let model = ScriptedModel("scripted", .call([.named("change")]), .say("done"))
        let tools = TestTools()
        try await Workshop.run(model, sources: [tools], rules: [ApprovalRule(.allow)]) { workshop in
            let session = try await workshop.store.createSession(NewSession(project: workshop.project.id))
            if isFull { workshop.log.fail(with: Full()) }
            let report = try await workshop.turns.run(workshop.input("Go", session: session.id)) { _ in }
            #expect(tools.done.isEmpty == isFull, "\(tools.done)")
            #expect(report.text.contains("done"))
            #expect("\(model.requests[1].messages)".contains("no space left for audit.db") == isFull)
            workshop.log.fail(with: nil)
            #expect(try await workshop.audit(session.id).contains { $0.action == "tool.call" } != isFull)
        }
    }
}
