import Capabilities
import GatewayStore
import JSON

/// Which tools a session may use: what `mcp` is in a request, and the body of `POST /v1/sessions/{id}/tools`.
struct ToolsBody: InputValue {
    let selection: ToolSelection

    private static let names = Schema.optional(.array(.string))

    static let schema = Schema.record([
        Schema.Property("enabled_servers", "Sources of tools that may be used; all when absent", names),
        Schema.Property("enabled_tools", "Tools that may be used, by name; all of those sources when absent", names),
        Schema.Property("priority", "Sources in the order in which their tools are offered", names),
        Schema.Property("audit_log", "Whether each call is written into the audit", .optional(.boolean)),
    ])

    init(json: JSON) throws(ValueError) {
        func names(_ key: String) -> [String]? { json[key]?.array?.compactMap(\.string) }
        selection = ToolSelection(
            servers: names("enabled_servers"), tools: names("enabled_tools"), priority: names("priority") ?? [],
            auditLog: json["audit_log"]?.bool ?? false)
    }
}

/// Which tools a session may use, as it is told.
struct WireTools: Record {
    let session: String
    let selection: ToolSelection

    static let fields: [Field<WireTools>] = [
        Field("session_id", "The session") { $0.session },
        Field("enabled_servers", "Sources of tools that may be used; all when absent") { $0.selection.servers },
        Field("enabled_tools", "Tools that may be used; all of those sources when absent") { $0.selection.tools },
        Field("priority", "Sources in the order in which their tools are offered") { $0.selection.priority },
        Field("audit_log", "Whether each call is written into the audit") { $0.selection.auditLog },
    ]
}
