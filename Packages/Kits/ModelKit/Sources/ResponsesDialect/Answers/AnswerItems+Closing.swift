import Capabilities
import JSON
import ModelKit

extension AnswerItems {
    /// Ends an item with all that is in it, of which what has not come in pieces is new.
    mutating func close(
        with content: JSON, at index: Int, isTruncated: Bool, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        let place = try position(at: index)
        guard items[place].isOpen else { return }
        let type = content["type"]?.string ?? ""
        switch type {
        case "message":
            try take(
                content["content"], as: ["output_text": .text, "text": .text, "refusal": .refusal], index, &events)
        case "reasoning":
            try take(content["summary"], as: ["summary_text": .summary], index, &events)
            try take(content["content"], as: ["reasoning_text": .thoughts, "text": .thoughts], index, &events)
            if let object = content.object, let sealed = SealedReasoning.seal(object) {
                try budget.charge(text: sealed)
                items[place].sealed = sealed
                events.append(.thought(Reasoning("", sealed: sealed)))
            }
        case "function_call":
            try name(place, content, &events)
            try replace(input: content["arguments"]?.unlessNull?.written, at: index)
            let isTruncated = isTruncated || content["status"] == "incomplete"
            settleCall(place, isTruncated: isTruncated, &events)
        case let type where type.hasSuffix("_call") && type != "custom_tool_call":
            try takeDone(content, type, place, &events)
        default: break
        }
        items[place].isOpen = false
    }

    /// Ends everything, as nothing more comes.
    mutating func settle(isTruncated: Bool, _ events: inout [ChatEvent]) {
        for place in items.indices where items[place].isOpen {
            settleCall(place, isTruncated: isTruncated, &events)
            items[place].isOpen = false
        }
    }

    private mutating func settleCall(_ place: Int, isTruncated: Bool, _ events: inout [ChatEvent]) {
        guard let call = items[place].call else { return }
        let part = CallInput.part(id: call.id, name: call.name, text: items[place].input, isTruncated: isTruncated)
        items[place].results.append(part)
        switch part {
        case .call(let call): events.append(.call(call))
        case .malformedCall(let call): events.append(.malformedCall(call))
        default: break
        }
    }

    /// Texts of which nothing has come in pieces.
    private mutating func take(
        _ contents: JSON?, as kinds: [String: Kind], _ index: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        for (number, content) in (contents?.array ?? []).enumerated() {
            guard let kind = kinds[content["type"]?.string ?? ""] else { continue }
            let item = try position(at: index)
            guard !items[item].pieces.contains(where: { $0.kind == kind && $0.place == number }) else { continue }
            let text = content["text"]?.filled ?? content["refusal"]?.filled ?? ""
            try append(text, kind, number, at: index, &events)
        }
    }

    /// A tool of the server's own, which has run already.
    private mutating func takeDone(
        _ content: JSON, _ type: String, _ place: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        let number = try budget.chargeCall()
        let id = content["id"]?.filled ?? number
        let name = content["name"]?.filled ?? String(type.dropLast(5))
        var input: JSON = [:]
        if let written = content["arguments"]?.filled {
            // What is no JSON is shown as it is, as nobody runs it again.
            input = (try? JSON(parsing: written, reading: .stream)) ?? .string(written)
        } else if let action = content["action"], !action.isNull {
            input = action
        }
        try budget.charge(input: input.text())
        let call = ToolCall(id: id, name: name, input: input, isDone: true)
        items[place].results.append(.call(call))
        events.append(.call(call))
        let error = content["error"]?.unlessNull?.written
        guard let output = error ?? content["output"]?.filled else { return }
        let result = ToolResult(call: id, content: output, isError: error != nil)
        try budget.charge(text: output)
        items[place].results.append(.result(result))
        events.append(.result(result))
    }
}
