import Capabilities
import MCPKit
import MCPServers
import Registry

/// The actions that show servers.
struct ListActions {
    let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var all: [Action] { [list, show, logs] }

    private var list: Action {
        Action("mcp.list", "List the MCP servers", .reads) { [services] context in
            let directory = try await services.current(services.projectFolder, telling: context.notice)
            for problem in directory.problems { context.notice(problem) }
            var rows: [ServerRow] = []
            for server in directory.servers { rows.append(try await services.row(server)) }
            return context.rows(
                rows,
                orSay:
                    "no MCP server is set up; 'martlet mcp add NAME COMMAND' adds one, 'martlet mcp import' takes over those of other programs"
            )
        }
        .asDefault()
        .example("martlet mcp list", "The servers of this folder, yours and the project's")
    }

    private var show: Action {
        Action(
            "mcp.show", "Show an MCP server with its tools", .reads,
            .argument("name", "Name of the server", completion: ServerCompletion.names(services))
        ) { [services] context, name in
            let server = try await services.server(named: name, telling: context.notice)
            let live = services.pool.known(server)
            return ServerDetail(
                row: try await services.row(server), revision: live?.info?.version.rawValue,
                instructions: live?.info?.instructions.map { PlainText.escapeLines($0) },
                tools: try await services.listedTools(of: server, nil))
        }
        .details("It does not start the server: the tools are those that it listed last.")
    }

    private var logs: Action {
        Action(
            "mcp.logs", "Show what an MCP server wrote and what happened to it", .reads,
            .argument("name", "Name of the server", completion: ServerCompletion.names(services)),
            .option("lines", "Number of lines, from the end", in: 1...100_000, default: 100)
        ) { [services] context, name, lines in
            let server = try await services.server(named: name, telling: context.notice)
            let found = try services.log(of: server).lines()
            return context.rows(
                found.suffix(lines).map { ServerLogLine($0) }, orSay: "the server has not run yet, so nothing is logged"
            )
        }
        .details(
            "What a program writes to its standard error is in the log once it has ended. The log keeps the newest 512 KiB."
        )
    }
}

/// A line of a server's log.
struct ServerLogLine: Record {
    let time: String
    let kind: String
    let text: String

    init(_ line: String) {
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        time = parts.first ?? ""
        kind = parts.count > 1 ? String(parts[1].dropLast()) : ""
        text = parts.count > 2 ? parts[2] : ""
    }

    static let fields: [Field<ServerLogLine>] = [
        Field("time", "When it was written") { $0.time },
        Field("kind", "stderr, martlet for what happened, or the level of a message of the server") { $0.kind },
        Field("text", "What it says", .name) { $0.text },
    ]
}

extension MCPServices {
    func row(_ server: ConfiguredServer) async throws -> ServerRow {
        let live = pool.known(server)
        var problem: String?
        var state = ServerRow.State.ready
        if !server.entry.isEnabled {
            state = .off
        } else if let missing = try await disagreement(about: server) {
            (state, problem) = (.unagreed, missing)
        } else if try await !choice(folder: server.folder, conversation: nil).uses(server: server.name) {
            state = .off
        } else if live?.status == .ok {
            state = .running
        } else if let failure = live?.failure {
            (state, problem) = (.failed, AnyFailure(failure).message)
        }
        return ServerRow(
            server: server, state: state, scope: server.isOwn ? "user" : "project",
            version: live?.info.map { PlainText.escape($0.identity.version, limit: 60) },
            tools: try await knownTools(of: server)?.count, problem: problem)
    }

    /// Why a server may not be used, without asking; nil if it may.
    private func disagreement(about server: ConfiguredServer) async throws -> String? {
        do {
            try agreement(to: server)?.require(in: registry?.optional((any FolderRules).self))
            return nil
        } catch {
            return AnyFailure(error).message
        }
    }

    /// The tools of a server in a list. Those that it listed last, if none are given.
    func listedTools(of server: ConfiguredServer, _ given: [MCPTool]?) async throws -> [ListedTool] {
        var tools = given
        if tools == nil { tools = try await knownTools(of: server) }
        let choice = try await choice(folder: server.folder, conversation: nil)
        return (tools ?? []).map { tool in
            let isOn =
                server.entry.tools?.contains(tool.name) != false && choice.uses(server: server.name)
                && choice.uses(tool: tool.name, of: server.name)
            let others = (tools ?? []).map(\.name) + ToolText.ownNames
            return ListedTool(
                server: server.name, tool: tool, isOn: isOn,
                warnings: ToolText.warnings(tool, of: server.name, among: others))
        }
    }
}
