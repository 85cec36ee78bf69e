import Capabilities
import FileKit
import JSON
import MCPServers
import Registry

/// Takes servers over from other programs.
struct ImportAction {
    let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var all: [Action] { [take] }

    private var take: Action {
        Action(
            "mcp.import", "Take over the MCP servers of another program", .writes,
            .argument(
                "from", "Program, such as claude-desktop, or a file; without it, what is found is listed",
                as: String?.self,
                completion: .dynamicOrFiles { @Sendable [services] _, _, _ in
                    services.foreignFiles.map { Completion.Candidate($0.program, $0.path) }
                }),
            .argument("names", "Only these servers", as: [String].self)
        ) { [services] context, from, names in
            guard let from else { return try Self.found(services, context) }
            let file = try services.foreignFile(from, context)
            // Also a file of another program that is known: it may have keys in it.
            let given = try context.path(ReadPath(file.path))
            guard let content = try file.read(given) else {
                throw ServerError(
                    .badFile,
                    "there is no \(PlainText.escape(file.path)), so \(PlainText.escape(from)) has no servers here")
            }
            for problem in content.problems { context.notice(problem) }
            if let name = names.first(where: { content.servers[$0] == nil }) {
                throw ServerError(
                    .unknownServer,
                    "\(PlainText.escape(file.path)) has no server \(PlainText.escape(name).quotedForMessage)\(Suggestion.text(for: name, among: content.servers.map(\.key)))"
                )
            }
            let own = Set(services.directory(services.projectFolder).servers.filter(\.isOwn).map(\.name))
            var rows: [ImportRow] = []
            var changes: [(key: [String], value: JSON?)] = []
            for (name, entry) in content.servers.sorted(by: { $0.key < $1.key })
            where names.isEmpty || names.contains(name) {
                let server = ConfiguredServer(
                    name: name, entry: entry, origin: .own(file.path), folder: services.projectFolder)
                var state = ImportRow.State.added
                if own.contains(name) {
                    state = .exists
                } else if try await !Self.agrees(to: server, names, context) {
                    state = .declined
                } else {
                    changes.append((["mcp", "servers", name], entry.json))
                }
                rows.append(ImportRow(file: file, name: name, target: server.target, state: state))
            }
            if !changes.isEmpty {
                let written = changes
                let path = try await context.registry.one((any SettingsWriter).self).edit { _ in written }
                context.notice("added to \(PlainText.escape(path)); 'martlet mcp test NAME' connects to one")
            }
            return context.rows(rows, orSay: "\(PlainText.escape(file.path)) names no servers")
        }
        .byName()
        .details(
            "Each server is shown first, and you are asked. A server that you name is not asked about again. Files of "
                + "claude-desktop, claude-code, cursor, vscode, windsurf, gemini, zed and codex are known; of any other program give the "
                + "file. Nothing is started."
        )
        .example("martlet mcp import", "List what other programs have")
        .example("martlet mcp import claude-desktop", "Take over its servers, each with your yes")
        .question("mcp.import.SERVER", "Whether to take over this server: true or false")
    }

    private static func agrees(to server: ConfiguredServer, _ names: [String], _ context: ActionContext) async throws
        -> Bool
    {
        if names.contains(server.name) { return true }
        let variables = server.entry.variables.map { PlainText.escape($0.name) }
        let gets = variables.isEmpty ? "" : ", which gets \(variables.joined(separator: ", "))"
        return try await context.interaction.confirm(
            "mcp.import.\(server.name)",
            "Take over \(server.name): \(PlainText.escape(server.target, limit: 300))\(gets)?")
    }

    /// What other programs have, without taking it over.
    private static func found(_ services: MCPServices, _ context: ActionContext) throws -> [ImportRow] {
        let own = Set(services.directory(services.projectFolder).servers.map(\.name))
        var rows: [ImportRow] = []
        for file in services.foreignFiles {
            do {
                let given = try context.path(ReadPath(file.path))
                for (name, entry) in (try file.read(given))?.servers.sorted(by: { $0.key < $1.key }) ?? [] {
                    let server = ConfiguredServer(
                        name: name, entry: entry, origin: .own(file.path), folder: services.projectFolder)
                    rows.append(
                        ImportRow(
                            file: file, name: name, target: server.target, state: own.contains(name) ? .exists : .found)
                    )
                }
            } catch {
                context.notice(AnyFailure(error).message)
            }
        }
        return context.rows(rows, orSay: "no other program on this machine has MCP servers, as far as is known here")
    }
}

extension MCPServices {
    /// The files in which other programs of the person keep their servers.
    var foreignFiles: [ForeignFile] {
        guard let home = Files.home(in: surroundings.environment) else { return [] }
        return ForeignFile.known(
            home: home, config: surroundings.environment["XDG_CONFIG_HOME"],
            codex: surroundings.environment["CODEX_HOME"])
    }

    /// The file that a word names: a program that is known, or a path.
    func foreignFile(_ word: String, _ context: ActionContext) throws -> ForeignFile {
        if let known = foreignFiles.first(where: { $0.program == word }) { return known }
        guard word.contains("/") || word.hasSuffix(".json") || word.hasSuffix(".toml") else {
            let known = foreignFiles.map(\.program)
            throw ServerError(
                .badFile,
                "\(PlainText.escape(word).quotedForMessage) is no program that is known here\(Suggestion.text(for: word, among: known)); known: \(known.joined(separator: ", ")), or give a file"
            )
        }
        return ForeignFile.named(context.host.locations.absolute(word))
    }
}

/// A server of another program.
struct ImportRow: Record {
    enum State: String, Choice { case found, added, exists, declined }

    let file: ForeignFile
    let name: String
    let target: String
    let state: State

    static let fields: [Field<ImportRow>] = [
        Field("name", "Name of the server", .name) { $0.name },
        Field("state", "found, added, exists (you have one of that name) or declined", .state) { $0.state },
        Field("from", "The program") { PlainText.escape($0.file.program) },
        Field("target", "What is started or asked") { PlainText.escape($0.target, limit: 200) },
        Field("file", "The file", .minor) { PlainText.escape($0.file.path) },
    ]
}
