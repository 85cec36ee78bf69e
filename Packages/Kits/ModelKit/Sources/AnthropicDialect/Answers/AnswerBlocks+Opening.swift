import Capabilities
import JSON
import ModelKit

extension AnswerBlocks {
    /// Begins a block, with what stands in it already.
    mutating func open(_ content: JSON, at index: Int, _ events: inout [ChatEvent]) throws(DialectError) {
        settleUndecided(isTruncated: false, &events)
        let type = content["type"]?.string ?? ""
        switch type {
        case "text":
            try add(Block(index: index, kind: .text))
            try append(content["text"]?.filled ?? "", .text, at: index, &events)
        case "thinking":
            try add(Block(index: index, kind: .thinking))
            try append(content["thinking"]?.filled ?? "", .thinking, at: index, &events)
            try append(content["signature"]?.filled ?? "", .signature, at: index, &events)
        case "redacted_thinking":
            let data = content["data"]?.filled ?? ""
            try budget.charge(text: data)
            try add(Block(index: index, kind: .sealed, text: data))
        case "tool_use", "server_tool_use", "mcp_tool_use": try openCall(content, type, at: index, &events)
        case let type where type.hasSuffix("_tool_result"): try addResult(content, at: index, &events)
        default: try add(Block(index: index, kind: .unknown))
        }
    }

    private mutating func openCall(
        _ content: JSON, _ type: String, at index: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        let name = content["name"]?.filled ?? ""
        let input = content["input"].flatMap { $0.isNull || $0.object?.isEmpty == true ? nil : $0.written }
        try budget.charge(input: input ?? "")
        guard name != AnswerTool.name else { return try add(Block(index: index, kind: .answer, startInput: input)) }
        let number = try budget.chargeCall()
        let id = content["id"]?.filled ?? number
        try budget.charge(text: id + name)
        let kind = Block.Kind.call(id: id, name: name, isDone: type != "tool_use")
        try add(Block(index: index, kind: kind, startInput: input))
        if !name.isEmpty { events.append(.calling(id: id, name: name)) }
    }

    /// What the server's own tools have found.
    private mutating func addResult(
        _ content: JSON, at index: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        guard let call = content["tool_use_id"]?.filled else { return }
        var result = ToolResult(call: call, content: content["content"]?.written ?? "")
        let kind = content["content"]?["type"]?.string ?? ""
        result.isError = content["is_error"]?.bool ?? kind.hasSuffix("_error")
        try budget.charge(text: call + result.content)
        try add(Block(index: index, kind: .result(result)))
        events.append(.result(result))
    }

    mutating func add(_ block: Block) throws(DialectError) {
        try budget.chargePart()
        blocks.append(block)
    }
}
