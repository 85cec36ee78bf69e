public import Capabilities
import StorageKit

extension GatewayStore {
    /// How the limits stand that hold for a turn: those that its project sets, that of the client's token, and the given one
    /// of the present day for everything together. The project is that of the session where none is named.
    ///
    /// - Parameters:
    ///   - client: who asks; one without a token of its own has no limit.
    ///   - unstored: what was used besides and has to count, too.
    public func checkBudget(
        session: String? = nil, project: String? = nil, client: String? = nil,
        day limit: BudgetLimit = BudgetLimit(), unstored: Usage = Usage()
    ) async throws -> BudgetState {
        let today = Day(now())
        return try await database.read { connection in
            var project = project
            if let session, project == nil {
                project = try connection.project(ofSession: session)
            }
            let budget = try project.map { try connection.project($0).budget } ?? ProjectBudget()
            var lines: [BudgetState.Line] = []
            if let session, !budget.session.isEmpty {
                let used = try connection.usage(ofSession: session) + unstored
                lines.append(BudgetState.Line(scope: .session, limit: budget.session, used: used))
            }
            if let project, !budget.project.isEmpty {
                let used = try connection.usage(ofProject: project) + unstored
                lines.append(BudgetState.Line(scope: .project, limit: budget.project, used: used))
            }
            if let client, let budget = try connection.budget(ofClient: client), !budget.isEmpty {
                let used = try connection.usage(ofClient: client, on: today) + unstored
                lines.append(BudgetState.Line(scope: .client, limit: budget, used: used))
            }
            if !limit.isEmpty {
                let used = try connection.usage(of: today) + unstored
                lines.append(BudgetState.Line(scope: .day, limit: limit, used: used))
            }
            return BudgetState(lines: lines)
        }
    }
}

extension Connection {
    /// Nil for a session that belongs to none; throws where there is no such session.
    func project(ofSession id: String) throws -> String? {
        let found: String?? = try first("SELECT project FROM sessions WHERE id = ?", id) { row in try row[0] }
        guard let project = found else { throw GatewayStoreError.noSession(id) }
        return project
    }
}
