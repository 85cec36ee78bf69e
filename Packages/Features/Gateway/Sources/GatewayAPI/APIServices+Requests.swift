import Capabilities
import GatewayStore
import GatewayTurns
import HTTPServer
import JSON
import ToolKit
import TurnLoop

/// What routes and `LocalGateway` do alike, once the caller may do it.
extension APIServices {
    func project(_ id: String) async throws -> Project {
        guard let project = try await store.project(id) else { throw RequestProblem.noProject(id) }
        return project
    }

    func projectRow(_ id: String) async throws -> ProjectRow {
        guard let row = try await store.projectRow(id) else { throw RequestProblem.noProject(id) }
        return row
    }

    /// Creates a project, and its folder if needed.
    ///
    /// - Parameter new: with the path as the client named it, which may be empty.
    func createProject(_ new: NewProject) async throws -> ProjectRow {
        var new = new
        // The folder is named after the stored name, from which secrets are removed.
        new.path = try folders.folder(named: store.kept(new.name), at: new.path)
        return try await projectRow(try await store.createProject(new).id)
    }

    func deleteProject(_ id: String) async throws {
        _ = try await project(id)
        try await store.deleteProject(id)
    }

    func session(_ id: String) async throws -> Session {
        guard let session = try await store.session(id) else { throw RequestProblem.noSession(id) }
        return session
    }

    func createSession(_ new: NewSession) async throws -> Session {
        if let id = new.project { _ = try await project(id) }
        let turns = turns
        if let model = new.model { _ = try await turns.model(named: model) }
        try await turns.check(new.selection, inProject: new.project)
        return try await store.createSession(new)
    }

    func deleteSession(_ id: String) async throws {
        _ = try await session(id)
        try await store.deleteSession(id)
    }

    /// Sets the tools of a session, and returns what applies.
    ///
    /// - Parameter mayEndAudit: whether the caller may turn off the audit log, which exists to watch clients.
    func setTools(_ wanted: ToolSelection, of id: String, mayEndAudit: Bool) async throws -> ToolSelection {
        let session = try await session(id)
        try await turns.check(wanted, inProject: session.project)
        var selection = wanted
        if session.selection.auditLog, !mayEndAudit { selection.auditLog = true }
        try await store.setTools(selection, of: id)
        return selection
    }

    /// Answers a call that waits for approval in one of these turns.
    ///
    /// - Parameter actor: who answers, for the audit log.
    func answer(
        _ id: String, of session: String, _ answer: ApprovalAnswer, in turns: Turns, by actor: String
    ) async throws {
        let found = try await self.session(session)
        if let ticket = turns.openApprovals(of: session).first(where: { $0.id == id }) {
            // Written first, so that no answer takes effect without a record of who gave it.
            try await store.audit(
                AuditEntry(
                    project: found.project, session: session, actor: actor, action: "approval.answered",
                    subject: ticket.call.name, decision: answer.isAllowed ? "allowed" : "denied",
                    detail: ["id": .string(ticket.call.id), "scope": answer.scope.json]))
        }
        try turns.answer(id, of: session, answer)
    }

    /// The folder of a project. Rules that hide files from tools hide them from clients too, or a model's client could
    /// fetch them for the model.
    func workspace(_ id: String) async throws -> Workspace {
        let project = try await project(id)
        return try await turns.workspace(of: project)
    }
}
