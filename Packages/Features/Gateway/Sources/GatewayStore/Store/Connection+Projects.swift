import Capabilities
import StorageKit
import TurnLoop

extension Connection {
    static let projectColumns: SQL = """
        SELECT id, name, description, path, rules, project_tokens, project_cost, session_tokens, session_cost, created,
            updated FROM projects
        """

    static let projectMatches: SQL =
        " WHERE name LIKE ?1 ESCAPE '\\' OR description LIKE ?1 ESCAPE '\\' OR path LIKE ?1 ESCAPE '\\'"

    static func project(_ row: borrowing Row) throws -> Project {
        let rules: Written<[ApprovalRule]> = try row[4]
        return Project(
            id: try row[0], name: try row[1], description: try row[2], path: try row[3], rules: rules.value,
            budget: ProjectBudget(
                project: try limit(row, from: 5), session: try limit(row, from: 7)),
            created: try row[9], updated: try row[10])
    }

    func findProject(_ id: String) throws -> Project? {
        try first(Self.projectColumns + " WHERE id = ?", id) { row in try Self.project(row) }
    }

    /// Of several the one that was used last.
    func findProject(at path: String) throws -> Project? {
        try first(Self.projectColumns + " WHERE path = ? ORDER BY updated DESC, id DESC LIMIT 1", path) { row in
            try Self.project(row)
        }
    }

    func create(_ new: NewProject, at time: Timestamp) throws -> Project {
        let id = Identifier.make(at: time)
        let budget = new.budget
        try run(
            "INSERT INTO projects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", id, new.name, new.description, new.path,
            Written(new.rules), budget.project.tokens, budget.project.cost?.nanodollars, budget.session.tokens,
            budget.session.cost?.nanodollars, time, time)
        return try project(id)
    }

    func project(_ id: String) throws -> Project {
        guard let project = try findProject(id) else { throw GatewayStoreError.noProject(id) }
        return project
    }

    func row(of project: Project) throws -> ProjectRow {
        let sessions = try first("SELECT count(*) FROM sessions WHERE project = ?", project.id) { row in
            try row[0] as Int
        }
        return ProjectRow(project: project, sessions: sessions ?? 0, usage: try usage(ofProject: project.id))
    }
}

extension [ApprovalRule] {
    /// With new rules instead of those for the same calls: who says something else later means that.
    func replacing(with rules: [ApprovalRule]) -> [ApprovalRule] {
        let others = filter { old in
            !rules.contains { new in
                (old.tool, old.source, old.scope) == (new.tool, new.source, new.scope) && old.arguments == new.arguments
            }
        }
        return others + rules
    }
}
