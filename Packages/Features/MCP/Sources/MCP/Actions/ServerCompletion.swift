import Capabilities
import JSON
import MCPKit
import MCPServers
import Registry

/// How shells complete names of servers and tools: from what is set up and remembered, without asking anybody.
enum ServerCompletion {
    static func names(_ services: MCPServices) -> Completion {
        .dynamic { _, _, _ in
            services.knownNow.servers.map { Completion.Candidate($0.name, $0.target) }
        }
    }

    static func tools(_ services: MCPServices) -> Completion {
        .dynamic { _, _, given in
            known(services, given).map { Completion.Candidate($0.name, ($0.summary ?? "").firstLine) }
        }
    }

    /// The options that a tool's schema has.
    static func arguments(_ services: MCPServices) -> Completion {
        .dynamic { _, _, given in
            guard let tool = known(services, given).first(where: { $0.name == given["tool"]?.string }) else {
                return []
            }
            return ToolWords(tool).options
        }
    }

    private static func known(_ services: MCPServices, _ given: JSONObject) -> [MCPTool] {
        guard let name = given["server"]?.string else { return [] }
        // What cannot be read gives no candidates.
        guard let server = try? services.knownNow.server(named: name) else { return [] }
        return services.knownToolsNow(of: server)
    }
}
