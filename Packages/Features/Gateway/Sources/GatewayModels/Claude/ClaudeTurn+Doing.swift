import Capabilities
import JSON
import TurnLoop

extension ClaudeTurn {
    mutating func called(_ content: JSON) -> [TurnEvent] {
        settleBlock()
        guard let id = content["id"]?.string, let name = content["name"]?.string else { return [] }
        let call = ToolCall(id: id, name: name, input: content["input"] ?? [:], isDone: true)
        if updates[id]?.result == nil { open.insert(id) }
        return note(call)
    }

    /// A call is known by its id, whether its frame or the question about it comes first.
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
            // The time that somebody took to decide is not the tool's.
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

    /// Gives each call a result that has none, so that the history stays valid.
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
