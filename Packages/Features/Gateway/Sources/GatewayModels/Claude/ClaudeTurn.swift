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
    /// Whether the command goes on with a session of its own.
    let isResumed: Bool
    private(set) var start: ChatStart?
    var parts: [Message.Part] = []
    private(set) var result: ClaudeResult?
    /// The command's own words about a failure of its service.
    var serviceWords: String?
    /// What the service said of a key or sign-in that it does not accept, which no further try will change.
    private(set) var denial: String?
    var usage = Usage()
    var updates: [String: CallUpdate] = [:]
    var rounds = 0
    var isUnapproved = false
    var hasUnfitApproval = false
    var order: [String] = []
    var block: Block?
    var counted: Set<String> = []
    /// What the last round is known to have written.
    var written = 0
    /// The calls of the last round that have no result yet.
    var open: Set<String> = []
    /// Whether a round is over and the model is about to be asked again.
    private(set) var isBetweenRounds = false

    init(isResumed: Bool, now: @escaping @Sendable () -> Timestamp) {
        self.isResumed = isResumed
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
            // The account of a turn that was stopped leaves out the message that was cut off.
            if let total = result.usage, !result.isError || total.tokens >= usage.tokens { usage = total }
            usage.cost = cost(by: result)
            return [.chat(.usage(usage))]
        default: return []
        }
    }

    /// What the turn has cost: as the command says, else by the list of prices. The session's total is this turn's only in
    /// a new session; in an old one it is better than nothing, since a budget must not stop counting.
    private func cost(by result: ClaudeResult) -> Cost? {
        if let cost = result.turnCost { return cost }
        return isResumed ? estimate ?? result.sessionCost : result.sessionCost ?? estimate
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
            if let status = frame["error_status"]?.int, status == 401 || status == 403 {
                denial = "status \(status)" + (frame["error"]?.string.map { ", \($0)" } ?? "")
                return []
            }
            let (attempt, most) = (frame["attempt"]?.int ?? 1, frame["max_retries"]?.int ?? 0)
            return [.notice("the service of claude does not answer; attempt \(attempt) of \(most)")]
        case "compact_boundary": return [.notice("claude has summarised the earlier part of its session")]
        default: return []
        }
    }
}

extension Usage {
    /// All that was read and written, as far as it is known.
    fileprivate var tokens: Int { (inputTokens ?? 0) + (outputTokens ?? 0) }
}
