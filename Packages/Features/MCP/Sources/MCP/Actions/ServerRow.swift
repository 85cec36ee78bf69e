import Capabilities
import MCPKit
import MCPServers

/// A server in a list.
struct ServerRow: Record {
    /// Whether it can be used.
    enum State: String, Choice {
        /// Its program or connection is there.
        case running
        /// It is started when it is needed.
        case ready
        /// It is switched off.
        case off
        /// It comes with the project, and nobody has agreed to it.
        case unagreed = "not-agreed"
        /// It ended, or could not be started.
        case failed
    }

    let server: ConfiguredServer
    let state: State
    let scope: String
    let version: String?
    let tools: Int?
    let problem: String?

    static let fields: [Field<ServerRow>] = [
        Field("name", "Name of the server", .name) { $0.server.name },
        Field("state", "running, ready, off, not-agreed or failed", .state) { $0.state },
        Field("scope", "Who set it up: user or project") { $0.scope },
        Field("version", "Version of the server, while it runs") { $0.version },
        Field("tools", "Number of tools, as they were listed last") { $0.tools },
        Field("target", "What is started or asked") { PlainText.escape($0.server.target, limit: 200) },
        Field("from", "Where it is set up", .minor) { PlainText.escape($0.server.place) },
        Field("problem", "Why it does not work", .detail) { $0.problem },
    ]
}

/// A server in full.
struct ServerDetail: Record {
    let row: ServerRow
    let revision: String?
    let instructions: String?
    let tools: [ListedTool]

    static let fields: [Field<ServerDetail>] = [
        Field("name", "Name of the server", .name) { $0.row.server.name },
        Field("state", "running, ready, off, not-agreed or failed", .state) { $0.row.state },
        Field("problem", "Why it does not work") { $0.row.problem },
        Field("scope", "Who set it up: user or project") { $0.row.scope },
        Field("from", "Where it is set up") { PlainText.escape($0.row.server.place) },
        Field("target", "What is started or asked") { PlainText.escape($0.row.server.target) },
        Field("environment", "Variables that its program gets besides the usual ones") {
            $0.row.server.entry.environment.keys.sorted().map { PlainText.escape($0) }
        },
        Field("headers", "Headers that its requests carry") {
            $0.row.server.entry.headers.keys.sorted().map { PlainText.escape($0) }
        },
        Field("variables", "Variables and secrets that are filled in, with their fields") { detail in
            // In what a platform says, nothing is filled in.
            let used = detail.row.server.platform == nil ? detail.row.server.entry.variables : []
            return used.map { "\(PlainText.escape($0.name)) in \(PlainText.escape($0.field))" }
        },
        Field("required", "Whether turns wait for it and fail without it") { $0.row.server.entry.isRequired },
        Field("install", "Words of the command that installs its program, if the entry says it", .detail) {
            $0.row.server.entry.install?.map { PlainText.escape($0) }
        },
        Field("version", "Version of the server, while it runs") { $0.row.version },
        Field("revision", "Revision of the protocol that is spoken, while it runs") { $0.revision },
        Field("instructions", "How the server wants to be used, in its own words", .detail) { $0.instructions },
        Field("tools", "Its tools, as they were listed last") { $0.tools },
    ]
}

/// A tool in a list.
struct ListedTool: Record {
    let server: String
    let tool: MCPTool
    let isOn: Bool
    let warnings: [String]

    static let fields: [Field<ListedTool>] = [
        Field("server", "Its server", .minor) { $0.server },
        Field("name", "Name of the tool", .name) { PlainText.escape($0.tool.name) },
        Field("on", "Whether models may be offered it") { $0.isOn },
        Field("summary", "What the server says it does") {
            PlainText.escape(($0.tool.summary ?? $0.tool.title ?? "").firstLine, limit: 300)
        },
        Field("hints", "What the server says of its effects, which proves nothing", .minor) { $0.tool.hints.words },
        Field("warnings", "What looks wrong with it") { $0.warnings },
        Field("input", "JSON Schema of its arguments", .detail) { $0.tool.input },
    ]
}

extension String {
    var firstLine: String { String(prefix { !$0.isNewline }) }
}
