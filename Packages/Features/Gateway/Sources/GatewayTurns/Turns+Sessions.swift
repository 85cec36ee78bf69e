public import Capabilities
public import GatewayStore
public import ToolKit
public import TurnLoop

extension Turns {
    /// Ends the turn of a session at once and returns when it has ended; what was said is kept, and the session goes on
    /// with the next request. False when no turn was running here.
    public func stop(session id: String) async throws -> Bool {
        guard let turn = table.turn(of: id) else {
            _ = try await session(id)
            return false
        }
        turn.control.stop(.asked)
        _ = await turn.task.value
        return true
    }

    public func status(session id: String) async throws -> SessionStatus {
        let session = try await session(id)
        return SessionStatus(
            session: session, isRunning: session.isRunning || table.turn(of: id) != nil,
            openApprovals: openApprovals(of: id).count)
    }

    /// Answers a question. An answer for longer than once is stored with the session or the project.
    ///
    /// - Throws: `GatewayError` `.approvalNotFound` when it was answered before, or its time is over.
    public func answer(_ approval: String, of session: String, _ answer: ApprovalAnswer) throws {
        var answer = answer
        // What holds for all projects is decided in the settings, and by no client.
        if answer.scope == .always { answer.scope = .project }
        try parts.approvals.answer(approval, of: session, .success(answer))
    }

    /// Says why nobody answers a question, such as that the answer given beforehand does not fit.
    public func answer(_ approval: String, of session: String, failing error: InteractionError) throws {
        try parts.approvals.answer(approval, of: session, .failure(error))
    }

    /// The questions of a session that wait for an answer, the oldest first.
    public func openApprovals(of session: String) -> [ApprovalTicket] { parts.approvals.tickets(of: session) }

    /// The folder of a project for a client that looks into it or writes there by itself. What a rule of the settings or of
    /// the project keeps from tools is kept from it, too.
    public func workspace(of project: Project) async throws(GatewayError) -> Workspace {
        let decided = await parts.decided(in: project).rules
        return try project.workspace(parts.settings, parts.settings.policy(in: project, decided, nil, .readOnly))
    }

    func session(_ id: String) async throws -> Session {
        guard let session = try await parts.store.session(id) else { throw GatewayError.noSession(id) }
        return session
    }

    func project(_ id: String) async throws -> Project {
        guard let project = try await parts.store.project(id) else {
            throw GatewayError(
                .projectNotFound,
                "there is no project \(PlainText.escape(id).quoted); 'martlet gateway project list' shows the ids",
                param: "project_id")
        }
        return project
    }
}

extension GatewayError {
    static func noSession(_ id: String) -> GatewayError {
        GatewayError(
            .sessionNotFound,
            "there is no session \(PlainText.escape(id).quoted); 'martlet gateway session list' shows the ids",
            param: "session_id")
    }
}
