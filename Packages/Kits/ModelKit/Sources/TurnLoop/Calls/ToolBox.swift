public import Capabilities
import JSON

/// The tools of all sources under unambiguous names that every provider accepts.
struct ToolBox: Sendable {
    struct Tool: Sendable {
        let source: any ToolSource
        /// The source's description.
        let description: ToolDescription
        /// The name for the model.
        let name: String

        /// The description with that name.
        var sent: ToolDescription {
            var description = description
            description.name = name
            return description
        }
    }

    private(set) var notices: [String] = []
    private var tools: [Tool] = []
    private var places: [String: Int] = [:]
    /// The tools about the conversation; nil if there are no others.
    private(set) var conversation: ConversationTools?

    /// The descriptions for the model. They change when it has found tools, and when there is a long result to read.
    var descriptions: [ToolDescription] {
        tools.filter(isOffered).map(\.sent)
    }

    private func isOffered(_ tool: Tool) -> Bool {
        guard let conversation else { return true }
        return tool.source === conversation
            ? conversation.offers(tool.description.name) : !conversation.hides(tool.name)
    }

    func tool(named name: String) -> Tool? { places[name].map { tools[$0] } }

    func unknown(_ name: String) -> String {
        let names = tools.map(\.name)
        let wanted = PlainText.escape(name).quotedForMessage
        return names.isEmpty
            ? "there is no tool \(wanted), and no other either; answer without tools"
            : "there is no tool \(wanted)\(Suggestion.text(for: name, among: names))"
    }

    /// Asks all sources in parallel. Sources that do not answer are named in a notice, and the others are used. If servers
    /// have more tools than a model should be told of, it gets a tool that finds them.
    ///
    /// - Parameter history: the messages so far, whose tools and long results stay available.
    static func open(
        _ sources: [any ToolSource], _ limits: TurnLimits, clock: any Clock<Duration>, history: [Message] = []
    ) async -> ToolBox {
        let limit = limits.callTime
        let answers = await withTaskGroup(of: (Int, TimedOutcome<[ToolDescription]>).self) { group in
            for (index, source) in sources.enumerated() {
                group.addTask { (index, await bounded(by: limit, on: clock) { try await source.tools() }) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var box = ToolBox()
        for (index, source) in sources.enumerated() {
            switch answers[index] {
            case .ended(.success(let tools))?:
                for tool in tools { box.add(tool, of: source) }
            case .ended(.failure(let error))?:
                box.notices.append("the tools of '\(source.name)' are not available: \(AnyFailure(error).message)")
            case .timedOut?:
                box.notices.append(
                    "the tools of '\(source.name)' are not available: the source did not answer within \(limit.words)")
            case .stopped?, nil: break
            }
        }
        if !box.tools.isEmpty { box.addConversation(limits, history) }
        return box
    }

    private mutating func addConversation(_ limits: TurnLimits, _ history: [Message]) {
        let own = ConversationTools(resultBytes: limits.resultBytes)
        let ofServers = tools.filter { !$0.source.isBuiltIn }.map(\.sent)
        if ofServers.count > limits.describedTools
            || TokenEstimate().tokens(of: ofServers) > limits.describedTokens
        {
            own.shelve(ofServers)
        }
        for message in history { own.note(message) }
        conversation = own
        for tool in ConversationTools.descriptions { add(tool, of: own) }
    }

    /// A tool of a server has a name that depends on nothing else. Of the others, the first tool with a name keeps it, and
    /// the next one is prefixed with its source.
    private mutating func add(_ tool: ToolDescription, of source: any ToolSource) {
        var name = ToolDescription.sentName(tool.name)
        if !source.isBuiltIn {
            name = ToolDescription.sentName(tool.name, ofServer: source.name)
        } else if places[name] != nil {
            name = ToolDescription.sentName("\(source.name)_\(tool.name)")
        }
        let wanted = name
        var number = 1
        while places[name] != nil {
            number += 1
            name = "\(wanted.prefix(60))_\(number)"
        }
        places[name] = tools.count
        tools.append(Tool(source: source, description: tool, name: name))
    }
}

extension ToolDescription {
    /// A tool's name as models know it: providers accept up to 64 letters, digits, `_` and `-`.
    public static func sentName(_ name: String) -> String {
        let sent = String(
            name.unicodeScalars.prefix(64).map { scalar -> Character in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "_", "-": Character(scalar)
                default: "_"
                }
            })
        return sent.isEmpty ? "tool" : sent
    }

    /// The name for models of a tool of a server: `server__tool`. It is the same whatever other servers and tools there
    /// are, and no other tool of any server has it: where the two names do not say all, a digest of both follows.
    public static func sentName(_ name: String, ofServer server: String) -> String {
        let plain = "\(server)__\(name)"
        let isClear =
            sentName(plain) == plain && !server.contains("__") && !name.contains("__") && !server.hasSuffix("_")
        if isClear, !name.hasPrefix("_") { return plain }
        // The two lengths keep apart what the names alone would not.
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in "\(server.utf8.count)/\(server)/\(name)".utf8 {
            digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        let digits = String(digest, radix: 36)
        return "\(sentName("\(sentName(server).prefix(24))__\(name)").prefix(63 - digits.count))_\(digits)"
    }
}
