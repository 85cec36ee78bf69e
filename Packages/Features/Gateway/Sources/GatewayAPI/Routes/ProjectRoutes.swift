import Capabilities
import GatewayStore
import HTTPCore
import HTTPServer
import JSON
import TurnLoop

/// Projects: a folder, its sessions, and what tools may do there.
struct ProjectRoutes {
    let services: APIServices
    private var store: GatewayStore { services.store }

    var all: [Route] {
        [
            Route(
                .get, "/v1/projects", "listProjects", "Projects, the last used first", .page, .pageSize,
                .query("search", "Only those with this in their name, description or path", as: String?.self)
            ) { _, page, size, search in try await list(page, size, search) },
            Route(
                .post, "/v1/projects", "createProject", "Makes a project, and its folder where there is none",
                .body(NewProjectBody.self, "What it is to be", unknown: .kept)
            ) { _, body in try await create(body) },
            Route(.get, "/v1/projects/{id}", "getProject", "One project", .path("id", "The project")) { _, id in
                try await read(id)
            }.refusing(.notFound),
            Route(
                .patch, "/v1/projects/{id}", "changeProject", "Changes what is given, but never the path",
                .path("id", "The project"), .body(ProjectBody.self, "What is to change", unknown: .kept)
            ) { _, id, body in try await change(id, body) }.refusing(.notFound),
            Route(
                .delete, "/v1/projects/{id}", "deleteProject", "Forgets a project and its sessions, but no file of it",
                .path("id", "The project")
            ) { _, id in try await delete(id) }.refusing(.notFound, .conflict),
        ].map { $0.tagged("projects") }
    }

    private func list(_ page: Int, _ size: Int, _ search: String?) async throws -> WirePage<WireProject> {
        let found = try await store.projects(page: PageRequest(number: page, size: size), search: search)
        return WirePage(found, WireProject.init)
    }

    private func read(_ id: String) async throws -> WireProject {
        guard let row = try await store.projectRow(id) else { throw RequestProblem.noProject(id) }
        return WireProject(row: row)
    }

    private func create(_ new: NewProjectBody) async throws -> WireProject {
        let body = new.body
        // The folder is called as the project is stored.
        let path = try services.folders.folder(named: store.kept(new.name), at: body.path)
        let new = NewProject(
            name: new.name, description: body.description, path: path, rules: body.rules ?? [],
            budget: body.budget ?? ProjectBudget())
        return try await read(try await store.createProject(new).id)
    }

    private func change(_ id: String, _ body: ProjectBody) async throws -> WireProject {
        _ = try await services.project(id)
        let change = ProjectChange(
            name: body.name, description: body.description, rules: body.rules, budget: body.budget)
        _ = try await store.updateProject(id, change)
        return try await read(id)
    }

    private func delete(_ id: String) async throws -> Deletion {
        _ = try await services.project(id)
        try await store.deleteProject(id)
        return Deletion(project: id)
    }
}

/// That something is gone.
struct Deletion: Record {
    var project: String?
    var session: String?

    static let fields: [Field<Deletion>] = [
        Field("project_id", "The project") { $0.project },
        Field("session_id", "The session") { $0.session },
        Field("status", "deleted", .state) { _ in "deleted" },
    ]
}

/// A project as clients see it.
struct WireProject: Record {
    let row: ProjectRow

    static let fields: [Field<WireProject>] = [
        Field("id", "Its id") { $0.row.project.id },
        Field("object", "Always project") { _ in "project" },
        Field("name", "What people call it", .name) { $0.row.project.name },
        Field("description", "What it is about") { $0.row.project.description },
        Field("path", "The folder in which its tools work") { $0.row.project.path },
        Field("created_at", "When it was made") { $0.row.project.created },
        Field("updated_at", "When something was last done in it") { $0.row.project.updated },
        Field("is_active", "Always: a project that is listed can be used") { _ in true },
        Field("session_count", "How many sessions it has") { $0.row.sessions },
        Field("total_tokens", "Tokens used in it, as far as they are known") { $0.row.usage.tokens },
        Field("total_cost", "US dollars spent in it, as far as it is known") { $0.row.usage.usage.cost },
        Field("rules", "What its tools may do without being asked for", .detail) { $0.row.project.rules },
        Field("budget", "What it may use up", .detail) { WireBudget($0.row.project.budget) },
    ]
}

/// What a client says of a project that it makes or changes.
struct ProjectBody: InputValue {
    let name: String?
    let description: String?
    let path: String?
    let rules: [ApprovalRule]?
    let budget: ProjectBudget?

    static let schema = Schema.record([name(.optional(.string))] + others)

    fileprivate static func name(_ schema: Schema) -> Schema.Property {
        Schema.Property("name", "What people call it", schema, keywords: ["pattern": #"\S"#])
    }

    fileprivate static let others = [
        Schema.Property("description", "What it is about", .optional(.string)),
        Schema.Property(
            "path", "Its folder: absolute and allowed, or beneath the folder for projects", .optional(.string)),
        // A rule or a limit that is not understood must not pass for one that holds.
        Schema.Property(
            "rules", "What its tools may do without being asked for", .optional(.array(ApprovalRule.schema)),
            keywords: ["items": .object(ApprovalRule.schema.jsonSchema(accepting: .nulls))]),
        Schema.Property(
            "budget", "What it may use up", .optional(WireBudget.schema), keywords: ["additionalProperties": false]),
    ]

    init(json: JSON) throws(ValueError) {
        name = json["name"]?.string
        description = json["description"]?.string
        path = json["path"]?.string
        do { rules = try json["rules"]?.unlessNull.map(Self.rules) } catch {
            throw error.under("rules")
        }
        do { budget = try json["budget"]?.unlessNull.map(Self.budget) } catch {
            throw error.under("budget")
        }
    }

    private static func rules(_ json: JSON) throws(ValueError) -> [ApprovalRule] { try [ApprovalRule](json: json) }
    private static func budget(_ json: JSON) throws(ValueError) -> ProjectBudget { try WireBudget(json: json).budget }
}

/// A project that is to be made, which needs a name.
struct NewProjectBody: InputValue {
    let body: ProjectBody
    let name: String

    static let schema = Schema.record([ProjectBody.name(.string)] + ProjectBody.others)

    init(json: JSON) throws(ValueError) {
        body = try ProjectBody(json: json)
        name = body.name ?? ""
        guard name.contains(where: { !$0.isWhitespace }) else {
            throw ValueError("needs a name that can be read", at: ["name"])
        }
    }
}

/// What a project and each of its sessions may use up. What is left out has no limit.
struct WireBudget: InputValue, OutputValue {
    let budget: ProjectBudget

    init(_ budget: ProjectBudget) {
        self.budget = budget
    }

    private static let tokens = Schema.optional(.integer(0...1_000_000_000_000))
    private static let dollars = Schema.optional(.number(0...1_000_000))

    static let schema = Schema.record([
        Schema.Property("project_tokens", "Tokens of all sessions together", tokens),
        Schema.Property("project_cost", "US dollars of all sessions together", dollars),
        Schema.Property("session_tokens", "Tokens of each session", tokens),
        Schema.Property("session_cost", "US dollars of each session", dollars),
    ])

    init(json: JSON) throws(ValueError) {
        let known = ["project_tokens", "project_cost", "session_tokens", "session_cost"]
        for name in json.object?.keys ?? [] where !known.contains(name) {
            throw ValueError(
                "is no limit that is known\(Suggestion.text(for: name, among: known))", at: [PlainText.escape(name)])
        }
        func cost(_ name: String) -> Cost? {
            json[name]?.double.map { Cost(nanodollars: Int(($0 * 1e9).rounded())) }
        }
        func count(_ name: String) throws(ValueError) -> Int? { try Int?(json: json[name] ?? .null) }
        budget = ProjectBudget(
            project: BudgetLimit(tokens: try count("project_tokens"), cost: cost("project_cost")),
            session: BudgetLimit(tokens: try count("session_tokens"), cost: cost("session_cost")))
    }

    var json: JSON {
        var object = JSONObject()
        object["project_tokens"] = budget.project.tokens.map(JSON.int)
        object["project_cost"] = budget.project.cost?.json
        object["session_tokens"] = budget.session.tokens.map(JSON.int)
        object["session_cost"] = budget.session.cost?.json
        return .object(object)
    }
}
