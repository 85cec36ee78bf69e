import Capabilities

/// An answer in which a server may pause: Anthropic ends a long turn with tools of its own by `pause_turn`, and wants to
/// be sent what it has said so far, to go on from there.
struct PausedAnswer {
    /// So often one answer is gone on with. A server that pauses for ever must not be paid for ever.
    private static let limit = 8

    private let asked: ChatRequest
    private var pauses = 0
    /// All that has been said.
    private(set) var answer: ChatAnswer?

    init(_ request: ChatRequest) {
        asked = request
    }

    /// What is to be asked now.
    var request: ChatRequest {
        guard let answer else { return asked }
        var request = asked
        request.messages.append(answer.message)
        return request
    }

    /// Takes the next part, and says whether another one follows.
    mutating func takes(_ next: ChatAnswer) -> Bool {
        answer = answer.map { $0.adding(next) } ?? next
        pauses += 1
        // A client that speaks to the server in its own words goes on by itself.
        guard asked.native?.dialect != .anthropic else { return false }
        return next.finish == .other("pause_turn") && pauses <= Self.limit
    }

    /// Events of what follows, as they are in the midst of one answer.
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
