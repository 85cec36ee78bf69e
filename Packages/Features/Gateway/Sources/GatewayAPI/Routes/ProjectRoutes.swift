import Capabilities
import GatewayStore
import HTTPCore
import HTTPServer
import JSON
import TurnLoop

/// Routes for projects. A project is a folder with its sessions and the rules for tools there.
struct ProjectRoutes {
    let services: APIServices
    private var store: GatewayStore { services.store }

    var all: [Route] {
        [
            Route(
                .get, "/v1/projects", "listProjects", "List projects, most recently used first", .page, .pageSize,
                .query("search", "Only projects with this text in their name, description or path", as: String?.self)
            ) { _, page, size, search in try await list(page, size, search) },
            Route(
                .post, "/v1/projects", "createProject", "Create a project, and its folder if needed",
                .body(NewProjectBody.self, "The project", unknown: .kept)
            ) { _, body in try await create(body) },
            Route(.get, "/v1/projects/{id}", "getProject", "Get a project", .path("id", "The project")) { _, id in
                try await read(id)
            }.refusing(.notFound),
            Route(
                .patch, "/v1/projects/{id}", "changeProject", "Change a project, except its path",
                .path("id", "The project"), .body(ProjectBody.self, "The members to change", unknown: .kept)
            ) { _, id, body in try await change(id, body) }.refusing(.notFound),
            Route(
                .delete, "/v1/projects/{id}", "deleteProject", "Delete a project and its sessions, but not its files",
                .path("id", "The project")
            ) { _, id in try await delete(id) }.refusing(.notFound, .conflict),
        ].map { $0.tagged("projects") }
    }

    private func list(_ page: Int, _ size: Int, _ search: String?) async throws -> WirePage<WireProject> {
        let found = try await store.projects(page: PageRequest(number: page, size: size), search: search)
        return WirePage(found, WireProject.init)
    }

    private func read(_ id: String) async throws -> WireProject {
        WireProject(row: try await services.projectRow(id))
    }

    private func create(_ new: NewProjectBody) async throws -> WireProject {
        let body = new.body
        return WireProject(
            row: try await services.createProject(
                NewProject(
                    name: new.name, description: body.description, path: body.path ?? "", rules: body.rules ?? [],
                    budget: body.budget ?? ProjectBudget())))
    }

    private func change(_ id: String, _ body: ProjectBody) async throws -> WireProject {
        _ = try await services.project(id)
        let change = ProjectChange(
            name: body.name, description: body.description, rules: body.rules, budget: body.budget)
        _ = try await store.updateProject(id, change)
        return try await read(id)
    }

    private func delete(_ id: String) async throws -> Deletion {
        try await services.deleteProject(id)
        return Deletion(project: id)
    }
}

/// Confirms a deletion.
struct Deletion: Record {
    var project: String?
    var session: String?

    static let fields: [Field<Deletion>] = [
        Field("project_id", "The project") { $0.project },
        Field("session_id", "The session") { $0.session },
        Field("status", "deleted", .state) { _ in "deleted" },
    ]
}

/// A project, as sent to clients.
struct WireProject: Record {
    let row: ProjectRow

    static let fields: [Field<WireProject>] = [
        Field("id", "Id of the project") { $0.row.project.id },
        Field("object", "Always project") { _ in "project" },
        Field("name", "Name of the project", .name) { $0.row.project.name },
        Field("description", "Description of the project") { $0.row.project.description },
        Field("path", "Folder in which its tools work") { $0.row.project.path },
        Field("created_at", "Creation time") { $0.row.project.created },
        Field("updated_at", "Time of the last change or use") { $0.row.project.updated },
        Field("is_active", "Always true: a listed project can be used") { _ in true },
        Field("session_count", "Number of sessions") { $0.row.sessions },
        Field("total_tokens", "Tokens used, as far as known") { $0.row.usage.tokens },
        Field("total_cost", "Cost in US dollars, as far as known") { $0.row.usage.usage.cost },
        Field("rules", "Rules for its tools", .detail) { $0.row.project.rules },
        Field("budget", "Limits on its usage", .detail) { WireBudget($0.row.project.budget) },
    ]
}

/// The body for creating or changing a project.
struct ProjectBody: InputValue {
    let name: String?
    let description: String?
    let path: String?
    let rules: [ApprovalRule]?
    let budget: ProjectBudget?

    static let schema = Schema.record([name(.optional(.string))] + others)

    fileprivate static func name(_ schema: Schema) -> Schema.Property {
        Schema.Property("name", "Name of the project", schema, keywords: ["pattern": #"\S"#])
    }

    fileprivate static let others = [
        Schema.Property("description", "Description of the project", .optional(.string)),
        Schema.Property(
            "path", "Folder: absolute in an allowed folder, or relative to the projects folder", .optional(.string)),
        // An unknown rule or limit must be an error, or the client would believe that it applies.
        Schema.Property(
            "rules", "Rules for its tools", .optional(.array(ApprovalRule.schema)),
            keywords: ["items": .object(ApprovalRule.schema.jsonSchema(accepting: .nulls))]),
        Schema.Property(
            "budget", "Limits on its usage", .optional(WireBudget.schema), keywords: ["additionalProperties": false]),
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

/// The body for creating a project, which needs a name.
struct NewProjectBody: InputValue {
    let body: ProjectBody
    let name: String

    static let schema = Schema.record([ProjectBody.name(.string)] + ProjectBody.others)

    init(json: JSON) throws(ValueError) {
        body = try ProjectBody(json: json)
        name = body.name ?? ""
        guard name.contains(where: { !$0.isWhitespace }) else {
            throw ValueError("must contain at least one visible character", at: ["name"])
        }
    }
}

/// The limits on the usage of a project and each of its sessions. An absent limit means no limit.
struct WireBudget: InputValue, OutputValue {
    let budget: ProjectBudget

    init(_ budget: ProjectBudget) {
        self.budget = budget
    }

    private static let tokens = Schema.optional(.integer(0...1_000_000_000_000))
    private static let dollars = Schema.optional(.number(0...1_000_000))

    static let schema = Schema.record([
        Schema.Property("project_tokens", "Maximum tokens of all sessions together", tokens),
        Schema.Property("project_cost", "Maximum cost of all sessions together, in US dollars", dollars),
        Schema.Property("session_tokens", "Maximum tokens of each session", tokens),
        Schema.Property("session_cost", "Maximum cost of each session, in US dollars", dollars),
    ])

    init(json: JSON) throws(ValueError) {
        let known = ["project_tokens", "project_cost", "session_tokens", "session_cost"]
        for name in json.object?.keys ?? [] where !known.contains(name) {
            throw ValueError(
                "is not a known limit\(Suggestion.text(for: name, among: known))", at: [PlainText.escape(name)])
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
