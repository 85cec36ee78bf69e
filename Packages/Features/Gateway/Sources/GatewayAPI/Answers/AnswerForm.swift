import Capabilities
import GatewayTurns
import HTTPCore
import JSON
import ModelKit
import TurnLoop

/// How an answer is written for one kind of client.
protocol AnswerForm: Sendable {
    /// An event of a stream; what this kind of client has no word for is left out.
    mutating func write(_ event: GatewayEvent, into events: inout EventWriter) throws
    /// The end of a stream.
    mutating func end(_ answer: ChatAnswer, into events: inout EventWriter) throws
    /// The end of a stream that has no whole answer.
    mutating func fail(_ refusal: ServerRefusal, into events: inout EventWriter) throws
    /// An answer that is not streamed.
    func reply(_ answer: ChatAnswer) -> JSONObject
}

extension TurnReport {
    /// All that the turn said as one answer, with what all of it took.
    func answer(isAgent: Bool) -> ChatAnswer {
        let last = outcome.answer
        var start = last?.start ?? ChatStart()
        start.model = place.name
        start.session = place.session
        start.project = place.project
        // What an agent's model said between its calls counts as well, and its calls have been answered.
        let message = isAgent ? nil : last?.message
        var answer = ChatAnswer(
            start: start, message: message ?? Message(.assistant, text), finish: finish(isAgent), usage: outcome.usage)
        answer.isUnapproved = outcome.isUnapproved
        answer.hasUnfitApproval = outcome.hasUnfitApproval
        answer.stopWord = last?.stopWord
        return answer
    }

    private func finish(_ isAgent: Bool) -> ChatAnswer.Finish {
        // One that was stopped has what was said until then, and whoever stopped it knows.
        guard case .answered = outcome.end, let finish = outcome.answer?.finish else { return .stop }
        return isAgent && finish == .calls ? .stop : finish
    }
}

extension ServerRefusal {
    /// A failure in the midst of a stream.
    init(_ failure: any Failure) {
        let status = FailureStatus.status(of: failure).code
        self.init(
            message: failure.message, type: ErrorFacts.type(status: status), code: WireCode.text(of: failure.code),
            field: failure.details["param"]?.string)
    }
}
