import Capabilities
import JSON
import TurnLoop

/// What the command said and did in a turn, read from its frames. It does no I/O.
struct ClaudeTurn {
    /// A block that is being streamed. Its frame arrives before its end and has the final text.
    struct Block {
        var isReasoning = false
        var text = ""
        /// Whether its frame has arrived.
        var isSettled = false
    }

    let now: @Sendable () -> Timestamp
    /// Whether the command resumed one of its sessions.
    let isResumed: Bool
    private(set) var start: ChatStart?
    var parts: [Message.Part] = []
    private(set) var result: ClaudeResult?
    /// The command's message about a failure of its service.
    var serviceWords: String?
    /// The service's message about a refused key or sign-in, for which retries are useless.
    private(set) var denial: String?
    var usage = Usage()
    private var updates: [String: CallUpdate] = [:]
    var rounds = 0
    var isUnapproved = false
    var hasUnfitApproval = false
    var order: [String] = []
    var block: Block?
    private var counted: Set<String> = []
    /// The tokens that the last round is known to have written.
    var written = 0
    /// The calls of the last round without a result yet.
    var open: Set<String> = []
    /// Whether a round has ended and the model is about to be asked again.
    private(set) var isBetweenRounds = false

    init(isResumed: Bool, now: @escaping @Sendable () -> Timestamp) {
        self.isResumed = isResumed
        self.now = now
    }

    var calls: Int { order.count }
    var failedCalls: Int { updates.values.count { $0.result?.isError == true } }

    /// Handles a frame; unknown frames are ignored.
    mutating func receive(_ frame: JSON) -> [TurnEvent] {
        let isSubAgent = frame["parent_tool_use_id"]?.string != nil
        isBetweenRounds = false
        switch frame["type"]?.string {
        case "system": return receive(system: frame)
        case "stream_event" where !isSubAgent: return receive(piece: frame["event"] ?? .null)
        case "assistant" where !isSubAgent: return receive(assistant: frame)
        // Results of a sub-agent count if there was a permission request for the call.
        case "user":
            let events = receive(results: frame["message"]?["content"]?.array ?? [])
            isBetweenRounds = !events.isEmpty && !isSubAgent && open.isEmpty
            return events
        case "result":
            let result = ClaudeResult(frame)
            self.result = result
            settleBlock()
            // The total of a stopped turn does not include the interrupted message.
            if let total = result.usage, !result.isError || total.tokens >= usage.tokens { usage = total }
            usage.cost = cost(by: result)
            return [.chat(.usage(usage))]
        default: return []
        }
    }

    /// The cost of the turn, as reported by the command or else estimated from list prices. The session's total equals
    /// the turn's cost only in a new session; in a resumed one it is the last resort, since a budget must keep
    /// counting.
    private func cost(by result: ClaudeResult) -> Cost? {
        if let cost = result.turnCost { return cost }
        return isResumed ? estimate ?? result.sessionCost : result.sessionCost ?? estimate
    }

    /// The cost of the usage at list prices, for a turn that ends before the command reports its cost.
    var estimate: Cost? {
        guard let model = start?.model else { return nil }
        return ModelTable.known.description(of: model, provider: "anthropic")?.price?.cost(of: usage)
    }

    private mutating func receive(system frame: JSON) -> [TurnEvent] {
        switch frame["subtype"]?.string {
        case "init":
            // It comes again in each turn of a session.
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
            return [.notice("claude's service does not respond; attempt \(attempt) of \(most)")]
        case "compact_boundary": return [.notice("claude has summarised the earlier part of its session")]
        default: return []
        }
    }
}

extension Usage {
    /// All known tokens, read and written.
    fileprivate var tokens: Int { (inputTokens ?? 0) + (outputTokens ?? 0) }
}

extension ClaudeTurn {
    mutating func called(_ content: JSON) -> [TurnEvent] {
        settleBlock()
        guard let id = content["id"]?.string, let name = content["name"]?.string else { return [] }
        let call = ToolCall(id: id, name: name, input: content["input"] ?? [:], isDone: true)
        if updates[id]?.result == nil { open.insert(id) }
        return note(call)
    }

    /// Registers a call by its id, whether its frame or the permission request for it comes first.
    private mutating func note(_ call: ToolCall) -> [TurnEvent] {
        guard updates[call.id] == nil else { return [] }
        var update = CallUpdate(call, source: "claude")
        update.started = now()
        updates[call.id] = update
        order.append(call.id)
        parts.append(.call(call))
        return [.chat(.call(call)), .call(update)]
    }

    private mutating func change(_ call: ToolCall, _ change: (inout CallUpdate) -> Void) -> [TurnEvent] {
        var events = note(call)
        guard var update = updates[call.id] else { return events }
        change(&update)
        updates[call.id] = update
        events.append(.call(update))
        return events
    }

    mutating func wait(_ call: ToolCall) -> [TurnEvent] { change(call) { $0.state = .waiting } }

    mutating func allow(_ call: ToolCall, by origin: ApprovalDecision.Origin) -> [TurnEvent] {
        let time = now()
        return change(call) { update in
            update.state = .approved
            update.decision = ApprovalDecision(isAllowed: true, by: origin)
            // The time for the approval does not count as the tool's.
            update.started = time
        }
    }

    mutating func deny(_ call: ToolCall, by origin: ApprovalDecision.Origin) -> [TurnEvent] {
        change(call) { update in
            update.state = .denied
            update.decision = ApprovalDecision(isAllowed: false, by: origin)
        }
    }

    mutating func receive(results content: [JSON]) -> [TurnEvent] {
        content.flatMap { block -> [TurnEvent] in
            guard block["type"]?.string == "tool_result", let id = block["tool_use_id"]?.string else { return [] }
            return settle(id, Self.text(of: block["content"]), isError: block["is_error"]?.bool ?? false)
        }
    }

    private mutating func settle(_ id: String, _ content: String, isError: Bool) -> [TurnEvent] {
        guard var update = updates[id], update.result == nil else { return [] }
        open.remove(id)
        let end = now()
        let result = ToolResult(
            call: id, content: content, isError: isError, duration: update.started.map { end - $0 })
        update.result = result
        update.ended = end
        if update.state != .denied { update.state = isError ? .failed : .done }
        updates[id] = update
        parts.append(.result(result))
        return [.chat(.result(result)), .call(update)]
    }

    /// Adds a result to each call without one, so that the history stays valid.
    mutating func settleAll(_ words: String) -> [TurnEvent] {
        settleBlock()
        return order.flatMap { settle($0, words, isError: true) }
    }

    private static func text(of content: JSON?) -> String {
        if let text = content?.string { return text }
        return (content?.array ?? []).map { block in
            block["text"]?.string ?? "[\(block["type"]?.string ?? "content")]"
        }.joined(separator: "\n")
    }
}

extension ClaudeTurn {
    mutating func receive(piece event: JSON) -> [TurnEvent] {
        switch event["type"]?.string {
        case "message_start": return began(message: event["message"])
        case "content_block_start":
            settleBlock()
            let content = event["content_block"]
            switch content?["type"]?.string {
            case "text": block = Block()
            case "thinking": block = Block(isReasoning: true)
            case "tool_use":
                guard let id = content?["id"]?.string, let name = content?["name"]?.string else { return [] }
                return [.chat(.calling(id: id, name: name))]
            default: break
            }
            return []
        case "content_block_delta":
            guard let piece = event["delta"]?["text"]?.string ?? event["delta"]?["thinking"]?.string, !piece.isEmpty,
                let block, !block.isSettled
            else { return [] }
            self.block?.text += piece
            return [.chat(block.isReasoning ? .reasoning(piece) : .text(piece))]
        case "message_delta":
            // The frames of a message arrive before its end, and report only the tokens written until then.
            if let all = event["usage"]?["output_tokens"]?.int, !counted.isEmpty { count(written: all) }
            return []
        default: return []
        }
    }

    /// Counts a message once: all its frames have its id and the same usage. Its start comes before them, so that the
    /// input of an interrupted message counts too.
    private mutating func began(message: JSON?) -> [TurnEvent] {
        guard let id = message?["id"]?.string, counted.insert(id).inserted else { return [] }
        rounds += 1
        let used = ClaudeResult.usage(message?["usage"]) ?? Usage()
        usage = usage + used
        usage.cost = estimate
        (written, open) = (used.outputTokens ?? 0, [])
        return [.round(rounds)]
    }

    private mutating func count(written all: Int) {
        guard (written..<1 << 40).contains(all) else { return }
        usage.outputTokens = (usage.outputTokens ?? 0) + all - written
        written = all
        usage.cost = estimate
    }

    mutating func receive(assistant frame: JSON) -> [TurnEvent] {
        guard let message = frame["message"] else { return [] }
        let content = message["content"]?.array ?? []
        // A message by the command itself in the model's place is about a failure.
        if message["model"]?.string == "<synthetic>" || frame["error"]?.string != nil {
            serviceWords = content.compactMap { $0["text"]?.string }.first ?? serviceWords
            return []
        }
        var events = began(message: message)
        for content in content {
            switch content["type"]?.string {
            case "text": events += said(content["text"]?.string ?? "", isReasoning: false) { .text($0) }
            case "thinking":
                let signature = content["signature"]?.string
                events += said(content["thinking"]?.string ?? "", isReasoning: true) {
                    .reasoning(Reasoning($0, signature: signature))
                }
            case "tool_use": events += called(content)
            default: break
            }
        }
        return events
    }

    /// Handles a whole block, part of which may have been streamed already.
    private mutating func said(
        _ whole: String, isReasoning: Bool, _ part: (String) -> Message.Part
    ) -> [TurnEvent] {
        var shown = ""
        if let block, !block.isSettled, block.isReasoning == isReasoning {
            shown = block.text
            self.block?.isSettled = true
        } else {
            settleBlock()
        }
        guard !whole.isEmpty else { return [] }
        parts.append(part(whole))
        // Streamed text cannot be taken back. If the frame differs, its text is stored and nothing more is streamed.
        guard whole.utf8.count > shown.utf8.count, whole.utf8.starts(with: shown.utf8) else { return [] }
        let rest = String(decoding: whole.utf8.dropFirst(shown.utf8.count), as: UTF8.self)
        return [.chat(isReasoning ? .reasoning(rest) : .text(rest))]
    }

    /// Keeps a block whose frame never arrived.
    private mutating func settleBlock() {
        if let block, !block.isSettled, !block.text.isEmpty {
            parts.append(block.isReasoning ? .reasoning(Reasoning(block.text)) : .text(block.text))
        }
        block = nil
    }
}

/// The command's final report of a turn.
struct ClaudeResult {
    /// Only this decides about success; the subtype is "success" even if the service failed.
    let isError: Bool
    let subtype: String
    /// Its final text, or the error message.
    let text: String?
    let errors: [String]
    let usage: Usage?
    /// The cost of the session. In a resumed session it includes earlier turns, although `usage` is only this turn's.
    let sessionCost: Cost?
    /// The cost of this turn; nil if the command does not report it.
    let turnCost: Cost?

    init(_ frame: JSON) {
        isError = frame["is_error"]?.bool ?? false
        subtype = frame["subtype"]?.string ?? ""
        text = frame["result"]?.string
        errors = (frame["errors"]?.array ?? []).compactMap(\.string)
        usage = Self.usage(frame["usage"])
        sessionCost = Self.cost(frame["total_cost_usd"])
        let models = frame["model_usage_since_last_result"]?.object ?? [:]
        let costs = models.compactMap { model in Self.cost(model.value["costUSD"])?.nanodollars }
        turnCost = costs.isEmpty ? nil : Cost(nanodollars: costs.reduce(0, +))
    }

    private static func cost(_ dollars: JSON?) -> Cost? {
        guard let dollars = dollars?.double, dollars >= 0, dollars < 1e9 else { return nil }
        return Cost(nanodollars: Int((dollars * 1e9).rounded()))
    }

    /// Reads Anthropic's usage, which counts cached tokens separately.
    static func usage(_ json: JSON?) -> Usage? {
        guard let json, let input = json["input_tokens"]?.int else { return nil }
        let (read, written) = (json["cache_read_input_tokens"]?.int, json["cache_creation_input_tokens"]?.int)
        return Usage(
            inputTokens: input + (read ?? 0) + (written ?? 0), outputTokens: json["output_tokens"]?.int,
            cachedTokens: read, cacheWriteTokens: written)
    }
}
