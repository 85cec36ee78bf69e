import Capabilities
import JSON
import TurnLoop

/// What the command has said and done in a turn, read from its frames. It does no I/O.
struct ClaudeTurn {
    /// A block that is being written. Its frame comes before its end and has the text that counts.
    struct Block {
        var isReasoning = false
        var text = ""
        /// Whether its frame has come.
        var isSettled = false
    }

    let now: @Sendable () -> Timestamp
    private(set) var start: ChatStart?
    var parts: [Message.Part] = []
    private(set) var result: ClaudeResult?
    /// The command's own words about a failure of its service.
    var serviceWords: String?
    var usage = Usage()
    var updates: [String: CallUpdate] = [:]
    var rounds = 0
    var isUnapproved = false
    var order: [String] = []
    var block: Block?
    var counted: Set<String> = []
    /// What the last round is known to have written.
    var written = 0
    /// The calls of the last round that have no result yet.
    var open: Set<String> = []
    /// Whether a round is over and the model is about to be asked again.
    private(set) var isBetweenRounds = false

    init(now: @escaping @Sendable () -> Timestamp) {
        self.now = now
    }

    var calls: Int { order.count }
    var failedCalls: Int { updates.values.count { $0.result?.isError == true } }

    /// Takes a frame; what is unknown is passed over.
    mutating func receive(_ frame: JSON) -> [TurnEvent] {
        let isSubAgent = frame["parent_tool_use_id"]?.string != nil
        isBetweenRounds = false
        switch frame["type"]?.string {
        case "system": return receive(system: frame)
        case "stream_event" where !isSubAgent: return receive(piece: frame["event"] ?? .null)
        case "assistant" where !isSubAgent: return receive(assistant: frame)
        // Results of a sub-agent count where somebody was asked about the call.
        case "user":
            let events = receive(results: frame["message"]?["content"]?.array ?? [])
            isBetweenRounds = !events.isEmpty && !isSubAgent && open.isEmpty
            return events
        case "result":
            let result = ClaudeResult(frame)
            self.result = result
            settleBlock()
            if let total = result.usage { usage = total }
            usage.cost = result.cost ?? estimate
            return [.chat(.usage(usage))]
        default: return []
        }
    }

    /// What the usage would cost by the list, for a turn that ends before the command says it.
    var estimate: Cost? {
        guard let model = start?.model else { return nil }
        return ModelTable.known.description(of: model, provider: "anthropic")?.price?.cost(of: usage)
    }

    private mutating func receive(system frame: JSON) -> [TurnEvent] {
        switch frame["subtype"]?.string {
        case "init":
            // It comes again for each turn of a session.
            guard start == nil else { return [] }
            let start = ChatStart(id: frame["session_id"]?.string, model: frame["model"]?.string)
            self.start = start
            return [.chat(.began(start))]
        case "api_retry":
            let (attempt, most) = (frame["attempt"]?.int ?? 1, frame["max_retries"]?.int ?? 0)
            return [.notice("the service of claude does not answer; attempt \(attempt) of \(most)")]
        case "compact_boundary": return [.notice("claude has summarised the earlier part of its session")]
        default: return []
        }
    }
}
