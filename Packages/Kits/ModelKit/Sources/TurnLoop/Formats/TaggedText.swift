public import Capabilities

/// Tools as tagged text, for models whose servers know nothing of tools.
///
/// The tools are described in the system prompt, the model writes `<tool_call>{"name": …, "arguments": {…}}</tool_call>`
/// into its text, and results go back as `<tool_result>{…}</tool_result>`. Tags inside of code, which a model writes when
/// it speaks about them, are text.
public struct TaggedText: ToolFormatter {
    public init() {}

    public func reader(after history: [Message]) -> any ToolReader {
        TaggedReader(parser: TagParser(next: Self.nextNumber(after: history)))
    }

    public func answer(_ answer: ChatAnswer, after history: [Message]) -> ChatAnswer {
        var parser = TagParser(next: Self.nextNumber(after: history))
        var parts: [Message.Part] = []
        var pieces: [TagParser.Piece] = []
        func take() {
            for piece in pieces {
                switch piece {
                case .text(let more):
                    if case .text(let text)? = parts.last {
                        parts[parts.count - 1] = .text(text + more)
                    } else {
                        parts.append(.text(more))
                    }
                case .call(let call): parts.append(.call(call))
                case .malformed(let call): parts.append(.malformedCall(call))
                }
            }
            pieces = []
        }
        for part in answer.message.parts {
            if case .text(let text) = part { parser.receive(text, into: &pieces) }
            take()
            if case .text = part { continue }
            parts.append(part)
        }
        parser.finish(into: &pieces)
        take()
        var answer = answer
        answer.message.parts = parts
        guard !answer.message.openCalls.isEmpty else { return answer }
        // The line breaks around calls say nothing.
        answer.message.parts.removeAll { part in
            if case .text(let text) = part { text.allSatisfy(\.isWhitespace) } else { false }
        }
        if answer.finish == .stop { answer.finish = .calls }
        return answer
    }

    /// Calls in text have no id; each gets a number that the conversation does not have yet.
    private static func nextNumber(after history: [Message]) -> Int {
        history.reduce(1) { number, message in
            message.openCalls.reduce(number) { number, call in
                guard call.id.hasPrefix(TagParser.idPrefix), let used = Int(call.id.dropFirst(TagParser.idPrefix.count))
                else { return number }
                return max(number, used < .max ? used + 1 : 1)
            }
        }
    }
}

private struct TaggedReader: ToolReader {
    var parser: TagParser

    mutating func receive(_ events: [ChatEvent]) -> [ChatEvent] {
        var read: [ChatEvent] = []
        for event in events {
            guard case .text(let text) = event else {
                read.append(event)
                continue
            }
            var pieces: [TagParser.Piece] = []
            parser.receive(text, into: &pieces)
            read += pieces.map(\.event)
        }
        return read
    }

    mutating func finish() -> [ChatEvent] {
        var pieces: [TagParser.Piece] = []
        parser.finish(into: &pieces)
        return pieces.map(\.event)
    }
}

extension TagParser.Piece {
    fileprivate var event: ChatEvent {
        switch self {
        case .text(let text): .text(text)
        case .call(let call): .call(call)
        case .malformed(let call): .malformedCall(call)
        }
    }
}
