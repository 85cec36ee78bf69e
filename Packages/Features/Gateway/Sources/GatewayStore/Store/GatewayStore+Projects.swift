import Capabilities
import StorageKit
public import TurnLoop

extension GatewayStore {
    /// Throws `.invalid` for a path that is not absolute or a name without letters. The folder is the caller's affair.
    @discardableResult
    public func createProject(_ new: NewProject) async throws -> Project {
        guard new.path.hasPrefix("/") else {
            throw GatewayStoreError(.invalid, "a project needs the absolute path of its folder")
        }
        try Self.check(name: new.name)
        let time = now()
        let id = Identifier.make(at: time)
        return try await database.write { connection in
            let budget = new.budget
            try connection.run(
                "INSERT INTO projects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", id, new.name, new.description,
                new.path, Written(new.rules), budget.project.tokens, budget.project.cost?.nanodollars,
                budget.session.tokens, budget.session.cost?.nanodollars, time, time)
            return try connection.project(id)
        }
    }

    /// Nil where there is none.
    public func project(_ id: String) async throws -> Project? {
        try await database.read { try $0.findProject(id) }
    }

    /// The project of a folder, of several the one that was used last; nil where there is none.
    public func project(at path: String) async throws -> Project? {
        try await database.read { connection in
            try connection.first(
                Connection.projectColumns + " WHERE path = ? ORDER BY updated DESC, id DESC LIMIT 1", path
            ) { row in try Connection.project(row) }
        }
    }

    /// The same with its sums.
    public func projectRow(_ id: String) async throws -> ProjectRow? {
        try await database.read { connection in
            try connection.findProject(id).map { try connection.row(of: $0) }
        }
    }

    /// Projects whose name, description or path has the text in it, the one that was used last first.
    public func projects(page: PageRequest = PageRequest(), search: String? = nil) async throws -> Page<ProjectRow> {
        let pattern = search.map(Line.pattern)
        return try await database.read { connection in
            let condition: SQL = pattern == nil ? " WHERE ?1 IS NULL" : Connection.projectMatches
            let total = try connection.first("SELECT count(*) FROM projects" + condition, pattern) { row in
                try row[0] as Int
            }
            let projects = try connection.all(
                Connection.projectColumns + condition + " ORDER BY updated DESC, id DESC LIMIT ?2 OFFSET ?3", pattern,
                page.size, page.offset
            ) { row in try Connection.project(row) }
            return Page(items: try projects.map { try connection.row(of: $0) }, request: page, total: total ?? 0)
        }
    }

    @discardableResult
    public func updateProject(_ id: String, _ change: ProjectChange) async throws -> Project {
        if let name = change.name { try Self.check(name: name) }
        let time = now()
        return try await database.write { connection in
            let project = try connection.project(id)
            let budget = change.budget ?? project.budget
            try connection.run(
                """
                UPDATE projects SET name = ?, description = ?, rules = ?, project_tokens = ?, project_cost = ?,
                    session_tokens = ?, session_cost = ?, updated = max(updated, ?) WHERE id = ?
                """,
                change.name ?? project.name, change.description ?? project.description,
                Written(change.rules ?? project.rules), budget.project.tokens, budget.project.cost?.nanodollars,
                budget.session.tokens, budget.session.cost?.nanodollars, time, id)
            return try connection.project(id)
        }
    }

    /// Adds rules; those that were there for the same calls give way.
    public func addRules(_ rules: [ApprovalRule], toProject id: String) async throws {
        try await finish { connection in
            let all = try connection.project(id).rules.replacing(with: rules)
            _ = try connection.run("UPDATE projects SET rules = ? WHERE id = ?", Written(all), id)
        }
    }

    /// Removes a project with its sessions, unless a turn runs in one. Its folder, what it took and the audit log stay.
    public func deleteProject(_ id: String) async throws {
        try await database.write { [turns] connection in
            _ = try connection.project(id)
            if let busy = try connection.running(turns, inProject: id).first { throw GatewayStoreError.busy(busy) }
            _ = try connection.run("DELETE FROM projects WHERE id = ?", id)
        }
    }

    private static func check(name: String) throws(GatewayStoreError) {
        if name.allSatisfy(\.isWhitespace) {
            throw GatewayStoreError(.invalid, "a project needs a name with at least one letter")
        }
    }
}
