public import Capabilities
public import JSON

/// Which servers and tools are used, as the person has chosen for all conversations, for a project, or for one conversation.
/// What it does not name is used as the next wider scope says.
public struct ServerChoice: Sendable, Hashable {
    /// What a choice applies to.
    public enum Scope: String, Choice {
        /// Every conversation.
        case user
        /// The conversations in a project's folder.
        case project
        /// One conversation.
        case session
    }

    /// Servers that are on or off.
    public var servers: [String: Bool] = [:]
    /// Tools that are on or off, as `server/tool`.
    public var tools: [String: Bool] = [:]
    /// The servers whose tools come first, in this order; nil if the scope does not say.
    public var priority: [String]?

    /// Nothing is chosen.
    public init() {}

    init(stored json: JSON) {
        func flags(_ name: String) -> [String: Bool] {
            Dictionary((json[name]?.object ?? [:]).compactMap { key, value in value.bool.map { (key, $0) } }) { $1 }
        }
        (servers, tools) = (flags("servers"), flags("tools"))
        priority = json["priority"]?.array?.compactMap(\.string)
    }

    /// As it is stored.
    public var json: JSON {
        var object: JSONObject = [:]
        if !servers.isEmpty { object["servers"] = servers.json }
        if !tools.isEmpty { object["tools"] = tools.json }
        object["priority"] = priority?.json
        return .object(object)
    }

    /// Whether nothing is chosen.
    public var isEmpty: Bool { self == ServerChoice() }

    /// This choice, and where it says nothing that of a wider scope.
    public func over(_ wider: ServerChoice) -> ServerChoice {
        var merged = wider
        merged.servers.merge(servers) { $1 }
        merged.tools.merge(tools) { $1 }
        merged.priority = priority ?? wider.priority
        return merged
    }

    /// Whether a server is used.
    public func uses(server: String) -> Bool { servers[server] ?? true }

    /// Whether a tool is used, if its server is.
    public func uses(tool: String, of server: String) -> Bool { tools["\(server)/\(tool)"] ?? true }

    /// The servers in the order of their priority, then by name.
    public func sorted(_ names: [String]) -> [String] {
        let first = (priority ?? []).filter(names.contains)
        return first + names.sorted().filter { !first.contains($0) }
    }
}
