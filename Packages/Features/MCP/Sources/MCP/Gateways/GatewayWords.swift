import Capabilities
import MCPServers

/// What the words of `mcp.gateway.use` name.
struct GatewayWords {
    /// A tool server, or one of its tools, that is switched on or off.
    struct Word: Sendable {
        let server: GatewayToolServer
        let tool: String?
        let isOn: Bool
    }

    private let words: [Word]
    /// The servers whose tools come first; empty if that is not changed.
    let priority: [String]
    private let gateway: Gateway

    /// - Throws: if a word names no server of the gateway.
    init(
        _ arguments: GatewayUseArguments, among servers: [GatewayToolServer], of gateway: Gateway
    ) throws(ServerError) {
        self.gateway = gateway
        var words: [Word] = []
        for (given, isOn) in [(arguments.on, true), (arguments.off, false)] {
            for word in given { words.append(try Self.word(word, isOn, servers, gateway)) }
        }
        self.words = words
        priority = Self.priority(arguments)
        for name in priority where !servers.contains(where: { $0.id == name }) {
            throw Self.unknown(name, servers, gateway)
        }
    }

    /// Whether every word of the arguments names one of these servers.
    static func fit(_ arguments: GatewayUseArguments, among servers: [GatewayToolServer]) -> Bool {
        (arguments.on + arguments.off).allSatisfy { word in
            servers.contains { $0.id == word || word.hasPrefix("\($0.id)/") }
        } && priority(arguments).allSatisfy { name in servers.contains { $0.id == name } }
    }

    private static func priority(_ arguments: GatewayUseArguments) -> [String] {
        arguments.priority.flatMap { $0.split(separator: ",").map(String.init) }
    }

    /// Whether single tools are named, so that servers must be asked for theirs.
    var nameTools: Bool { words.contains { $0.tool != nil } }

    /// The words, once it is known that there are such tools.
    ///
    /// - Parameter servers: the same as before, with their tools if `nameTools`.
    func checked(among servers: [GatewayToolServer]) throws(ServerError) -> [Word] {
        var checked: [Word] = []
        for word in words {
            guard let server = servers.first(where: { $0.id == word.server.id }) else { continue }
            let known = server.tools ?? []
            if let tool = word.tool, !known.contains(tool) {
                let hint = Suggestion.text(for: tool, among: known)
                throw ServerError(
                    .unknownTool,
                    "the tool server \(server.id) of \(gateway.name) has no tool \(PlainText.escape(tool).quotedForMessage)\(hint)"
                )
            }
            checked.append(Word(server: server, tool: word.tool, isOn: word.isOn))
        }
        return checked
    }

    /// Names of servers can have slashes too.
    private static func word(
        _ word: String, _ isOn: Bool, _ servers: [GatewayToolServer], _ gateway: Gateway
    ) throws(ServerError) -> Word {
        if let server = servers.first(where: { $0.id == word }) { return Word(server: server, tool: nil, isOn: isOn) }
        let holders = servers.filter { word.hasPrefix("\($0.id)/") }
        guard let server = holders.max(by: { $0.id.count < $1.id.count }) else {
            throw unknown(word.split(separator: "/").first.map(String.init) ?? word, servers, gateway)
        }
        return Word(server: server, tool: String(word.dropFirst(server.id.count + 1)), isOn: isOn)
    }

    private static func unknown(_ name: String, _ servers: [GatewayToolServer], _ gateway: Gateway) -> ServerError {
        let hint = Suggestion.text(for: name, among: servers.map(\.id))
        return ServerError(
            .unknownServer,
            "\(gateway.name) has no tool server \(PlainText.escape(name).quotedForMessage)\(hint); 'martlet mcp gateway list' shows them"
        )
    }
}
