import Capabilities
import JSON
import ModelKit

extension ResponsesWriter {
    mutating func begin(_ frames: inout [Frame]) {
        guard !hasBegun else { return }
        hasBegun = true
        var response = head
        response["status"] = "in_progress"
        response["output"] = []
        append("response.created", ["response": .object(response)], &frames)
        append("response.in_progress", ["response": .object(response)], &frames)
    }

    mutating func say(_ text: String, _ kind: OutputItem.Kind, _ frames: inout [Frame]) {
        begin(&frames)
        if open?.kind != kind {
            close(&frames)
            start(kind, &frames)
        }
        open?.text += text
        if kind == .text {
            writeText(text, &frames)
        } else if let item = open {
            delta(text, of: item, &frames)
        }
    }

    /// Ends a thought with what only the provider can read, which clients have to send back.
    mutating func seal(_ thought: Reasoning, _ frames: inout [Frame]) {
        guard let item = SealedReasoning.item(thought) else { return }
        begin(&frames)
        if open?.kind != .reasoning {
            close(&frames)
            start(.reasoning, &frames)
        }
        open?.sealed = item
        close(&frames)
    }

    mutating func writeCall(_ id: String, _ name: String, _ input: String, _ frames: inout [Frame]) {
        begin(&frames)
        close(&frames)
        start(.call(id: id, name: name), &frames)
        open?.text = input
        if let item = open { delta(input, of: item, &frames) }
        close(&frames)
    }

    private mutating func start(_ kind: OutputItem.Kind, _ frames: inout [Frame]) {
        let item = OutputItem(kind: kind, id: Self.itemID(kind, id, output.count))
        open = item
        if kind == .text { textHead = textHead(of: item) }
        append(
            "response.output_item.added", ["output_index": .int(output.count), "item": item.json(isDone: false)],
            &frames)
        if let events = item.partEvents { append(events.added, place(of: item, ["part": item.part("")]), &frames) }
    }

    private mutating func delta(_ text: String, of item: OutputItem, _ frames: inout [Frame]) {
        append(item.events.delta, place(of: item, ["delta": .string(text)]), &frames)
    }

    /// The bulk of a stream is text, of which only the text itself has to be written anew.
    private mutating func writeText(_ text: String, _ frames: inout [Frame]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(textHead.count + text.utf8.count + 64)
        bytes += textHead
        JSON.string(text).write(into: &bytes)
        bytes += #","logprobs":[],"sequence_number":\#(sequence)}"#.utf8
        sequence += 1
        frames.append(("response.output_text.delta", bytes))
    }

    private func textHead(of item: OutputItem) -> [UInt8] {
        var members = place(of: item, [:])
        members["type"] = "response.output_text.delta"
        var bytes: [UInt8] = []
        JSON.object(members).write(into: &bytes)
        bytes.removeLast()
        return bytes + #","delta":"#.utf8
    }

    mutating func close(_ frames: inout [Frame]) {
        guard let item = open else { return }
        open = nil
        var members = place(of: item, [item.events.whole: .string(item.text)])
        if item.kind == .text { members["logprobs"] = [] }
        append(item.events.done, members, &frames)
        if let events = item.partEvents {
            append(events.done, place(of: item, ["part": item.part(item.text)]), &frames)
        }
        let whole = item.json(isDone: true)
        append("response.output_item.done", ["output_index": .int(output.count), "item": whole], &frames)
        output.append(whole)
    }

    private func place(of item: OutputItem, _ members: JSONObject) -> JSONObject {
        var place: JSONObject = ["item_id": .string(item.id), "output_index": .int(output.count)]
        for (key, value) in item.place { place.append(key, value) }
        for (key, value) in members { place.append(key, value) }
        return place
    }

    mutating func append(_ name: String, _ members: JSONObject, _ frames: inout [Frame]) {
        var event: JSONObject = ["type": .string(name), "sequence_number": .int(sequence)]
        for (key, value) in members { event.append(key, value) }
        sequence += 1
        var bytes: [UInt8] = []
        JSON.object(event).write(into: &bytes)
        frames.append((name, bytes))
    }

    static func itemID(_ kind: OutputItem.Kind, _ response: String, _ place: Int) -> String {
        switch kind {
        case .text, .refusal: "msg_\(response)_\(place)"
        case .reasoning: "rs_\(response)_\(place)"
        case .call: "fc_\(response)_\(place)"
        }
    }
}
