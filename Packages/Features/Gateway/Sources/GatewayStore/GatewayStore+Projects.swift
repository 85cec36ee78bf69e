public import Capabilities
import StorageKit
public import TurnLoop

extension GatewayStore {
    /// Creates a project. Throws `.invalid` for a path that is not absolute or a blank name. The caller checks the
    /// folder.
    @discardableResult
    public func createProject(_ new: NewProject) async throws -> Project {
        guard new.path.hasPrefix("/") else {
            throw GatewayStoreError(.invalid, "the path of a project's folder must be absolute")
        }
        try Self.check(name: new.name)
        let (time, new) = (now(), kept(new))
        return try await database.write { try $0.create(new, at: time) }
    }

    /// Returns the project of a folder, and creates it if there is none. An existing project takes the new rules.
    ///
    /// - Returns: The project, and whether it is new.
    public func openProject(_ new: NewProject) async throws -> (project: Project, isNew: Bool) {
        try Self.check(name: new.name)
        let (time, new) = (now(), kept(new))
        return try await database.write { connection in
            guard let known = try connection.findProject(at: new.path) else {
                return (try connection.create(new, at: time), true)
            }
            if !new.rules.isEmpty {
                let rules = known.rules.replacing(with: new.rules)
                _ = try connection.run("UPDATE projects SET rules = ? WHERE id = ?", Written(rules), known.id)
            }
            return (try connection.project(known.id), false)
        }
    }

    /// The project with an id; nil if there is none.
    public func project(_ id: String) async throws -> Project? {
        try await database.read { try $0.findProject(id) }
    }

    /// The project with an id or a name. Throws `.notFound` if there is none, and `.invalid` if several have the name.
    public func project(named name: String) async throws -> Project {
        try await database.read { connection in
            if let project = try connection.findProject(name) { return project }
            let found = try connection.all(
                Connection.projectColumns + " WHERE name = ? ORDER BY updated DESC, id DESC", name
            ) { row in try Connection.project(row) }
            guard let project = found.first else { throw GatewayStoreError.noProject(name) }
            guard found.count == 1 else { throw GatewayStoreError.several(name, found.map(\.id)) }
            return project
        }
    }

    /// The project of a folder; of several the most recently used one; nil if there is none.
    public func project(at path: String) async throws -> Project? {
        try await database.read { try $0.findProject(at: path) }
    }

    /// The project with an id, with its totals.
    public func projectRow(_ id: String) async throws -> ProjectRow? {
        try await database.read { connection in
            try connection.findProject(id).map { try connection.row(of: $0) }
        }
    }

    /// Projects whose name, description or path contains the text, most recently used first.
    public func projects(page: PageRequest = PageRequest(), search: String? = nil) async throws -> Page<ProjectRow> {
        let pattern = search.map(SearchQuery.pattern)
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

    /// Changes a project and returns the result. Throws `.notFound` if there is none, and `.invalid` for a blank name.
    @discardableResult
    public func updateProject(_ id: String, _ change: ProjectChange) async throws -> Project {
        if let name = change.name { try Self.check(name: name) }
        let time = now()
        let (name, description) = (change.name.map(kept), change.description.map(kept))
        return try await database.write { connection in
            let project = try connection.project(id)
            let budget = change.budget ?? project.budget
            try connection.run(
                """
                UPDATE projects SET name = ?, description = ?, rules = ?, project_tokens = ?, project_cost = ?,
                    session_tokens = ?, session_cost = ?, updated = max(updated, ?) WHERE id = ?
                """,
                name ?? project.name, description ?? project.description,
                Written(change.rules ?? project.rules), budget.project.tokens, budget.project.cost?.nanodollars,
                budget.session.tokens, budget.session.cost?.nanodollars, time, id)
            return try connection.project(id)
        }
    }

    /// Removes rules that were revoked or moved elsewhere; all of them, or none.
    public func removeRules(_ rules: [ApprovalRule], ofProject id: String) async throws {
        try await finish { connection in
            let others = try connection.project(id).rules.filter { !rules.contains($0) }
            _ = try connection.run("UPDATE projects SET rules = ? WHERE id = ?", Written(others), id)
        }
    }

    /// Removes a project with its sessions, unless a turn runs in one. Its folder, its usage and the audit log stay.
    public func deleteProject(_ id: String) async throws {
        try await database.write { [turns] connection in
            _ = try connection.project(id)
            if let busy = try connection.running(turns, inProject: id).first { throw GatewayStoreError.busy(busy) }
            _ = try connection.run("DELETE FROM projects WHERE id = ?", id)
        }
    }

    /// The project without secrets in name and description. Its folder and rules stay unchanged, since they would mean
    /// something else otherwise.
    private func kept(_ new: NewProject) -> NewProject {
        var new = new
        (new.name, new.description) = (kept(new.name), new.description.map(kept))
        return new
    }

    private static func check(name: String) throws(GatewayStoreError) {
        if name.allSatisfy(\.isWhitespace) {
            throw GatewayStoreError(.invalid, "a project needs a name that is not blank")
        }
    }
}

/// A folder in which sessions work, with its rules.
public struct Project: Sendable, Hashable {
    /// The permanent id.
    public let id: String
    /// The name, not blank. Several projects may have the same.
    public let name: String
    /// The description; nil if the client gave none.
    public let description: String?
    /// The folder, absolute.
    public let path: String
    /// The rules declared for the project: which calls need approval. Answers of a user are in the folder's record.
    public let rules: [ApprovalRule]
    /// The limits on its usage.
    public let budget: ProjectBudget
    /// The time of its creation.
    public let created: Timestamp
    /// The time of its last change, or of the start of its last turn.
    public let updated: Timestamp
}

/// The values for a new project.
public struct NewProject: Sendable, Hashable {
    /// The name, which must not be blank.
    public var name: String
    /// The description; nil for none.
    public var description: String?
    /// The folder, absolute. The caller checks that it exists.
    public var path: String
    /// Which calls need approval.
    public var rules: [ApprovalRule]
    /// The limits on its usage.
    public var budget: ProjectBudget

    /// A project without rules and limits, unless they are given.
    public init(
        name: String, description: String? = nil, path: String, rules: [ApprovalRule] = [],
        budget: ProjectBudget = ProjectBudget()
    ) {
        self.name = name
        self.description = description
        self.path = path
        self.rules = rules
        self.budget = budget
    }
}

/// Changes to a project. Nil leaves a value unchanged.
public struct ProjectChange: Sendable, Hashable {
    /// The new name, which must not be blank.
    public var name: String?
    /// The new description.
    public var description: String?
    /// The new rules, instead of all former ones.
    public var rules: [ApprovalRule]?
    /// The new limits, instead of all former ones.
    public var budget: ProjectBudget?

    /// Without arguments it changes nothing but the time of the last change.
    public init(
        name: String? = nil, description: String? = nil, rules: [ApprovalRule]? = nil, budget: ProjectBudget? = nil
    ) {
        self.name = name
        self.description = description
        self.rules = rules
        self.budget = budget
    }
}

/// A project in a list.
public struct ProjectRow: Sendable, Hashable {
    /// The project itself.
    public let project: Project
    /// The number of its sessions.
    public let sessions: Int
    /// Its usage so far, including deleted sessions.
    public let usage: UsageSum
}

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

    /// The project of a path; of several the most recently used one.
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
    /// The rules with new ones added, which replace earlier rules for the same calls.
    func replacing(with rules: [ApprovalRule]) -> [ApprovalRule] {
        let others = filter { old in
            !rules.contains { new in
                (old.tool, old.source, old.scope) == (new.tool, new.source, new.scope) && old.arguments == new.arguments
            }
        }
        return others + rules
    }
}
