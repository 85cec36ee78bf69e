import Capabilities

/// An answer in which the server may pause. Anthropic ends a long turn with its own tools with `pause_turn` and expects
/// the answer so far to be sent back to continue.
struct PausedAnswer {
    /// The maximum number of continuations. A server that pauses for ever must not be paid for ever.
    private static let limit = 8

    private let asked: ChatRequest
    private var pauses = 0
    /// The answer so far.
    private(set) var answer: ChatAnswer?

    init(_ request: ChatRequest) {
        asked = request
    }

    /// The next request.
    var request: ChatRequest {
        guard let answer else { return asked }
        var request = asked
        request.messages.append(answer.message)
        return request
    }

    /// Adds the next part. Returns whether another one follows.
    mutating func takes(_ next: ChatAnswer) -> Bool {
        answer = answer.map { $0.adding(next) } ?? next
        pauses += 1
        // A client that sends native requests continues by itself.
        guard asked.native?.dialect != .anthropic else { return false }
        return next.finish == .other("pause_turn") && pauses <= Self.limit
    }

    /// The events of a continuation, without those that only begin an answer.
    func continued(by events: [ChatEvent]) -> [ChatEvent] {
        guard let answer else { return events }
        return events.compactMap { event in
            switch event {
            case .began: nil
            case .usage(let more): .usage(answer.usage + more)
            default: event
            }
        }
    }
}

extension ChatAnswer {
    fileprivate func adding(_ next: ChatAnswer) -> ChatAnswer {
        var message = message
        message.parts += next.message.parts
        var whole = ChatAnswer(start: start, message: message, finish: next.finish, usage: usage + next.usage)
        whole.stopWord = next.stopWord
        return whole
    }
}
