import Capabilities
import JSON
import ModelKit

extension OpenAIReader {
    /// Reads an event that is not just text.
    mutating func receiveTree(
        _ name: String, _ data: [UInt8], into events: inout [ChatEvent]
    ) throws(DialectError) {
        let trimmed = data.drop { $0 <= 32 }
        if trimmed.isEmpty { return }
        if trimmed.starts(with: "[DONE]".utf8) { return try complete(&events) }
        guard let object = try Self.object(in: data, named: name) else { return }
        let isError = name == "error" || Self.saysOnlyWords(object)
        if let refusal = ServerRefusal(inStream: object, isError: isError) { throw .failed(refusal) }
        try take(object, &events)
    }

    /// Reads an answer that was not streamed.
    mutating func receiveWhole(_ body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) {
        guard let object = try Self.object(in: body, named: "") else { throw .malformed(body) }
        let isError = object["choices"] == nil && object["object"] == nil
        if let refusal = ServerRefusal(inStream: object, isError: isError) { throw .failed(refusal) }
        try take(object, &events)
        try complete(&events)
    }

    /// Whether it is what proxies write in the midst of a stream when they fail.
    private static func saysOnlyWords(_ object: JSONObject) -> Bool {
        (object["detail"] != nil || object["message"] != nil)
            && !["choices", "object", "usage", "id"].contains { object[$0] != nil }
    }

    private mutating func complete(_ events: inout [ChatEvent]) throws(DialectError) {
        isComplete = true
        try sayRest(&events)
        settleCalls(into: &events)
    }

    private mutating func take(_ object: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        if try takeFrame(object, &events) { return }
        note(object, &events)
        if object["unapproved"]?.bool == true { isUnapproved = true }
        // Only one answer is asked for; if a server gives more, the others are passed over.
        let choice = object["choices"]?.array?.first { ($0["index"]?.int ?? 0) == 0 }
        if let choice {
            hasChoice = true
            if let delta = (choice["delta"]?.object ?? choice["message"]?.object) { try take(delta: delta, &events) }
            if reason == nil, let word = choice["finish_reason"]?.filled {
                if word == "error" { throw .failed(ServerRefusal(message: "it gives no reason")) }
                reason = word
                try sayRest(&events)
                settleCalls(into: &events)
            }
        }
        take(usage: choice?["usage"]?.object, &events)
        take(usage: object["usage"]?.object, &events)
    }

    /// Notes who answers. Some servers say that only in later chunks, or leave it empty at first.
    private mutating func note(_ object: JSONObject, _ events: inout [ChatEvent]) {
        start.id = start.id ?? object["id"]?.filled
        start.model = start.model ?? object["model"]?.filled
        start.session = start.session ?? object["session_id"]?.filled
        start.project = start.project ?? object["project_id"]?.filled
        if start.model != nil { begin(&events) }
    }

    private mutating func take(delta: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        var thoughts = delta["reasoning"]?.filled ?? delta["reasoning_content"]?.filled ?? ""
        for case .object(let detail) in delta["reasoning_details"]?.array ?? [] {
            try parts.charge(detail.reduce(128) { $0 + $1.key.utf8.count + ($1.value.string?.utf8.count ?? 32) })
            let text = details.take(detail)
            if delta["reasoning"]?.filled == nil, delta["reasoning_content"]?.filled == nil { thoughts += text }
        }
        try say(thoughts, .reasoning, &events)
        try take(content: delta["content"], &events)
        try say(delta["refusal"]?.filled ?? "", .refusal, &events)
        // Some servers name the calls after the reason, and others name all of them once more.
        guard reason == nil || !parts.hasOpenCalls else { return }
        var pieces = delta["tool_calls"]?.array ?? []
        // The older form, of which there is one.
        if let call = delta["function_call"], !call.isNull { pieces.append(["index": 0, "function": call]) }
        for piece in pieces {
            begin(&events)
            if let part = try calls.take(piece, &events) { parts.add(part, &events) }
        }
    }

    /// Content is a text, or a list of blocks with texts and, with some, thoughts.
    private mutating func take(content: JSON?, _ events: inout [ChatEvent]) throws(DialectError) {
        if let text = content?.filled { try say(text, .text, &events) }
        for block in content?.array ?? [] {
            let texts = block["thinking"]?.array ?? []
            for text in texts { try say(text["text"]?.filled ?? "", .reasoning, &events) }
            try say(block["thinking"]?.filled ?? "", .reasoning, &events)
            try say(block["text"]?.filled ?? "", .text, &events)
        }
    }

    mutating func take(usage object: JSONObject?, _ events: inout [ChatEvent]) {
        guard let object, let new = Usage(openAI: object), new != usage else { return }
        begin(&events)
        usage = new
        events.append(.usage(new))
    }

    /// Nil for JSON that is no object, and for what events with a name of their own say, neither of which is for us.
    private static func object(in data: [UInt8], named name: String) throws(DialectError) -> JSONObject? {
        guard data.count <= largestEvent else {
            throw DialectError(.tooLarge, "the server sent more than \(largestEvent >> 20) MiB at once; ask for less")
        }
        do {
            return try JSON(parsing: data, reading: .stream).object
        } catch {
            if name == "error" { throw .failed(ServerRefusal(words: data) ?? ServerRefusal(message: "")) }
            guard name.isEmpty || name == "message" else { return nil }
            if error.code == .depth {
                throw DialectError(.tooLarge, "the server's answer nests too deep: \(error); ask it another way")
            }
            throw .malformed(data)
        }
    }
}
