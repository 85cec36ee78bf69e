import Capabilities
import GatewayStore
import HTTPCore
import HTTPServer

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
