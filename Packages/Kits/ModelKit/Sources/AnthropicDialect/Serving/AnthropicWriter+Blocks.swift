import Capabilities
import JSON
import ModelKit

extension AnthropicWriter {
    mutating func begin(_ frames: inout [Frame]) {
        guard !hasBegun else { return }
        hasBegun = true
        var message = head
        message["content"] = []
        message["stop_reason"] = .null
        message["stop_sequence"] = .null
        message["usage"] = .object(usage.anthropic)
        append("message_start", ["message": .object(message)], &frames)
    }

    mutating func open(_ block: Block, _ frames: inout [Frame]) {
        begin(&frames)
        guard open != block else { return }
        close(&frames)
        open = block
        switch block {
        case .text: start(["type": "text", "text": ""], &frames)
        case .thinking: start(["type": "thinking", "thinking": "", "signature": ""], &frames)
        }
        textHead = Array(
            #"{"type":"content_block_delta","index":\#(index),"delta":{"type":"text_delta","text":"#.utf8)
    }

    mutating func close(_ frames: inout [Frame]) {
        guard open != nil else { return }
        open = nil
        stop(&frames)
    }

    /// The signature of a thought, or one that only the provider can read; clients have to send both back.
    mutating func writeEnd(of thought: Reasoning, _ frames: inout [Frame]) {
        if let signature = thought.signature {
            open(.thinking, &frames)
            let delta: JSON = ["type": "signature_delta", "signature": .string(signature)]
            append("content_block_delta", ["index": .int(index), "delta": delta], &frames)
            close(&frames)
        } else if let sealed = thought.sealed {
            begin(&frames)
            close(&frames)
            start(["type": "redacted_thinking", "data": .string(sealed)], &frames)
            stop(&frames)
        }
    }

    mutating func writeCall(_ id: String, _ name: String, _ input: JSON, _ frames: inout [Frame]) {
        writeCall(["type": "tool_use", "id": .string(id), "name": .string(name)], input, &frames)
    }

    /// A block that does not grow.
    mutating func write(whole block: JSONObject, _ frames: inout [Frame]) {
        begin(&frames)
        close(&frames)
        start(.object(block), &frames)
        stop(&frames)
    }

    mutating func writeCall(_ block: JSONObject, _ input: JSON, _ frames: inout [Frame]) {
        begin(&frames)
        close(&frames)
        var block = block
        block["input"] = [:]
        start(.object(block), &frames)
        let delta: JSON = ["type": "input_json_delta", "partial_json": .string(input.text())]
        append("content_block_delta", ["index": .int(index), "delta": delta], &frames)
        stop(&frames)
    }

    private func start(_ block: JSON, _ frames: inout [Frame]) {
        append("content_block_start", ["index": .int(index), "content_block": block], &frames)
    }

    private mutating func stop(_ frames: inout [Frame]) {
        append("content_block_stop", ["index": .int(index)], &frames)
        index += 1
    }

    /// The bulk of a stream is text, of which only the text itself has to be written anew.
    mutating func writeText(_ text: String, _ frames: inout [Frame]) {
        open(.text, &frames)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(textHead.count + text.utf8.count + 8)
        bytes += textHead
        JSON.string(text).write(into: &bytes)
        bytes += "}}".utf8
        frames.append(("content_block_delta", bytes))
    }

    func append(_ name: String, _ members: JSONObject, _ frames: inout [Frame]) {
        var event: JSONObject = ["type": .string(name)]
        for (key, value) in members { event.append(key, value) }
        frames.append((name, Self.bytes(event)))
    }

    static func bytes(_ object: JSONObject) -> [UInt8] {
        var bytes: [UInt8] = []
        JSON.object(object).write(into: &bytes)
        return bytes
    }
}
