import Capabilities

/// A tool server at a gateway.
struct GatewayToolServer: Sendable, Hashable {
    let row: AgentToolServer
    /// The names of its tools; nil if it was not asked for them.
    var tools: [String]?

    /// The id with which a choice names it.
    var id: String { row.id }
}

/// The tools that a session of a gateway uses, and how that changes.
///
/// A gateway takes lists of what is used, and no list means everything. Switching something off therefore lists everything
/// else. Tools are listed by their names, which every gateway understands, or with their server where a name fits several.
struct GatewayChoice: Sendable {
    private struct Tool: Hashable {
        let server: String
        let name: String
    }

    private(set) var selection: ToolSelection
    /// Servers that are used and have no tools now, so that a list of tools leaves them without any.
    private(set) var unlisted: [GatewayToolServer] = []
    private let servers: [GatewayToolServer]
    /// The tools of the selection; nil for all.
    private var chosen: Set<Tool>?
    /// Words of the selection that mean nothing that is known here. They are kept.
    private var foreign: [String] = []
    /// Names that tools of several servers have, as models get them.
    private let shared: Set<String>

    /// - Parameter servers: those of the gateway, with their tools if the selection lists tools or will.
    init(_ selection: ToolSelection, among servers: [GatewayToolServer]) {
        self.selection = selection
        self.servers = servers
        var (seen, shared): (Set<String>, Set<String>) = ([], [])
        for server in servers {
            for name in Set((server.tools ?? []).map(Self.sent)) where !seen.insert(name).inserted {
                shared.insert(name)
            }
        }
        self.shared = shared
        if let words = selection.tools { (chosen, foreign) = Self.meaning(of: words, among: used) }
    }

    /// The servers, those with priority first.
    var sorted: [GatewayToolServer] {
        var seen: Set<String> = []
        let first = selection.priority.compactMap { id in servers.first { $0.id == id } }
        return (first + servers).filter { seen.insert($0.id).inserted }
    }

    func uses(_ server: GatewayToolServer) -> Bool {
        selection.servers?.contains(server.id) ?? (server.row.isEnabled != false)
    }

    func uses(_ tool: String, of server: GatewayToolServer) -> Bool {
        uses(server) && chosen?.contains(Tool(server: server.id, name: tool)) != false
    }

    // MARK: Changing it

    mutating func set(_ server: GatewayToolServer, isOn: Bool) {
        var ids = usedIDs
        if !isOn {
            ids.removeAll { $0 == server.id }
        } else if !ids.contains(server.id) {
            ids.append(server.id)
        }
        if ids != usedIDs { selection.servers = ids }
        guard let tools = chosen else { return }
        let own = Set(all(of: server))
        if !isOn {
            // A gateway refuses tools of servers that are not used.
            foreign.removeAll { $0.hasPrefix("\(server.id)/") }
            list(tools.subtracting(own))
        } else if tools.isDisjoint(with: own) {
            list(tools.union(own))
        }
    }

    mutating func set(_ tool: String, of server: GatewayToolServer, isOn: Bool) {
        guard uses(tool, of: server) != isOn else { return }
        var tools = chosen ?? Set(used.flatMap(all))
        if chosen == nil { unlisted = used.filter { $0.tools?.isEmpty != false } }
        if !isOn {
            tools.remove(Tool(server: server.id, name: tool))
        } else {
            if !uses(server) { selection.servers = usedIDs + [server.id] }
            tools.insert(Tool(server: server.id, name: tool))
        }
        list(tools)
    }

    mutating func set(priority: [String]) { selection.priority = priority }

    private var used: [GatewayToolServer] { servers.filter(uses) }

    /// The ids of what is used, also of servers that are not there now.
    private var usedIDs: [String] { selection.servers ?? used.map(\.id) }

    private func all(of server: GatewayToolServer) -> [Tool] {
        (server.tools ?? []).map { Tool(server: server.id, name: $0) }
    }

    // MARK: Words

    private mutating func list(_ tools: Set<Tool>) {
        chosen = tools
        let listed = servers.flatMap(all).filter { tools.contains($0) }
        let words = listed.map { shared.contains(Self.sent($0.name)) ? "\($0.server)/\($0.name)" : $0.name }
        selection.tools = words + foreign
    }

    /// What words of a selection mean: a tool's name, also with its server, or its name as models get it.
    private static func meaning(
        of words: [String], among servers: [GatewayToolServer]
    ) -> (tools: Set<Tool>, foreign: [String]) {
        var (exact, sent): ([String: [Tool]], [String: [Tool]]) = ([:], [:])
        for server in servers {
            for name in server.tools ?? [] {
                let tool = Tool(server: server.id, name: name)
                exact[name, default: []].append(tool)
                exact["\(server.id)/\(name)", default: []].append(tool)
                sent[Self.sent(name), default: []].append(tool)
                sent["\(Self.sent(server.id))__\(Self.sent(name))", default: []].append(tool)
            }
        }
        var (tools, foreign): (Set<Tool>, [String]) = ([], [])
        for word in words {
            if let meant = exact[word] ?? sent[word] { tools.formUnion(meant) } else { foreign.append(word) }
        }
        return (tools, foreign)
    }

    /// A name as models get it, since most providers allow only these characters.
    private static func sent(_ name: String) -> String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? $0 : "_" })
    }
}
