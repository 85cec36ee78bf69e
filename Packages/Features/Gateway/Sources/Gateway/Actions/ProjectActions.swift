import Capabilities
import FileKit
import GatewayStore
import JSON
import Registry
import ToolKit
import TurnLoop

/// Actions on the gateway's projects, the folders in which models work.
struct ProjectActions {
    let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    var all: [Action] { [list, add, remove] }

    private var list: Action {
        Action(
            "gateway.project.list", "List the projects, most recently used first", .reads,
            .option("search", "Only projects with this text in their name or path", as: String?.self)
        ) { context, search in
            var rows: [ListedProject] = []
            var page = PageRequest(size: 100)
            while true {
                let found = try await services.store.projects(page: page, search: search)
                rows += found.items.map(ListedProject.init)
                guard found.hasNext else {
                    return context.rows(
                        rows,
                        orSay: search == nil
                            ? "there are no projects yet; add one with 'martlet gateway project add FOLDER'"
                            : "no project has this text in its name or path")
                }
                page = PageRequest(number: page.number + 1, size: 100)
            }
        }
        .asDefault()
    }

    private var add: Action {
        Action(
            "gateway.project.add", "Let models work in a folder", .writes,
            .argument("folder", "The folder", as: OwnPath.self, completion: .directories),
            .option("name", "Name of the project; by default the folder's name", as: String?.self),
            .option("allow", "Tool to allow there without asking, such as fs.write or *", as: [String].self)
        ) { context, folder, name, allowed in
            let path = try Files.canonical(context.host.locations.absolute(try context.text(of: folder)))
            guard try Files.info(path).kind == .directory else {
                throw ServingError(.settings, "\(PlainText.escape(path)) is not a folder")
            }
            let rules = allowed.map { ApprovalRule(.allow, tool: $0, scope: .project) }
            try await ToolNames(context, folder: path).check(rules)
            let last = path.split(separator: "/").last.map(String.init) ?? path
            let opened = try await services.store.openProject(
                NewProject(name: name ?? last, path: path, rules: rules))
            let id = opened.project.id
            guard !opened.isNew else { return ListedProject(opened.project) }
            context.notice(
                "this folder is already a project"
                    + (rules.isEmpty ? "" : "; the tools allowed now were added to its rules"))
            if let name, name != opened.project.name {
                try await services.store.updateProject(id, ProjectChange(name: name))
            }
            // Includes the sessions and their usage.
            return try await services.store.projectRow(id).map(ListedProject.init) ?? ListedProject(opened.project)
        }
        .byName()
        .details(
            "Tools that only read are allowed in every project; others need approval, unless a rule decides. "
                + "A folder is one project: adding it again updates its name and adds the new rules."
        )
        .example("martlet gateway project add . --allow multi.edit", "Allow edits here without asking")
    }

    private var remove: Action {
        Action(
            "gateway.project.remove", "Delete a project and its sessions, but not the folder", .destroys,
            .argument("project", "Id or name of the project", as: String.self, completion: GatewayCompletion.projects)
        ) { context, name in
            try await services.store.deleteProject(services.store.project(named: name).id)
            return Nothing()
        }
        .losing { arguments, _ in
            let project = try await services.store.project(named: arguments["project"]?.string ?? "")
            let (name, path) = (PlainText.escape(project.name), PlainText.escape(project.path))
            return "Delete the project \(name) in \(path) and its sessions"
        }
        .byName()
    }
}

/// A project in a list.
struct ListedProject: Record {
    let project: Project
    var sessions = 0
    var usage = UsageSum()

    /// A new project, without sessions and usage.
    init(_ project: Project) {
        self.project = project
    }

    init(_ row: ProjectRow) {
        (project, sessions, usage) = (row.project, row.sessions, row.usage)
    }

    static let fields: [Field<ListedProject>] = [
        Field("id", "Id of the project", .name) { $0.project.id },
        Field("name", "Name of the project") { PlainText.escape($0.project.name) },
        Field("path", "Folder of the project") { PlainText.escape($0.project.path) },
        Field("sessions", "Number of sessions") { $0.sessions },
        Field("tokens", "Tokens used so far") { $0.usage.tokens },
        Field("cost_usd", "Cost so far in US dollars") { $0.usage.usage.cost },
        Field("updated", "Time of the last change or use") { $0.project.updated },
        Field("rules", "Rules for tools in this project", .detail) { ApprovalPolicy(rules: $0.project.rules) },
    ]
}

/// The tools that may be used in a folder. They show whether a rule names a tool that exists.
struct ToolNames {
    private let sources: [any ToolSource]
    private let hasClaude: Bool

    init(_ context: ActionContext, folder: String) async throws {
        let others = try await context.registry.toolSources(at: ToolPlace(folder: folder), telling: context.notice)
        sources = [WorkspaceTools(try Workspace(folder), offering: .all)] + others
        hasClaude = context.host.claude != nil
    }

    /// Throws for a rule that matches no tool.
    func check(_ rules: [ApprovalRule]) async throws {
        guard !rules.isEmpty else { return }
        var known: [(tool: String, source: String)] = []
        for source in sources {
            // A source that does not answer now may have any tool, so nothing can be refused.
            do { known += try await source.tools().map { ($0.name, source.name) } } catch { return }
        }
        for rule in rules where !fits(rule, known) {
            throw ServingError(
                .settings,
                "there is no tool \(PlainText.escape(rule.tool).quotedForMessage)"
                    + (Suggestion.nearest(to: rule.tool, among: known.map(\.tool)).map { "; did you mean '\($0)'?" }
                        ?? "; there are \(known.map(\.tool).joined(separator: ", "))"))
        }
    }

    private func fits(_ rule: ApprovalRule, _ known: [(tool: String, source: String)]) -> Bool {
        // The tools of claude change with its version. Their names are words such as WebFetch, or mcp__server__tool.
        if hasClaude, rule.tool.first?.isUppercase == true, rule.tool.allSatisfy(\.isLetter) { return true }
        if rule.tool.hasPrefix("mcp__") { return true }
        let policy = ApprovalPolicy(rules: [rule])
        return known.contains { tool, source in
            let call = ToolCall(id: "", name: tool, input: [:])
            let request = ApprovalRequest(call: call, tool: tool, source: source, effect: .writes, summary: "")
            return policy.ruling(for: request) != nil
        }
    }
}
