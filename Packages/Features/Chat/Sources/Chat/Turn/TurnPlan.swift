import Capabilities
import ChatHistory
import ChatProviders
import TurnLoop

/// Everything that one turn is run with.
struct TurnPlan: Sendable {
    var choice: ModelChoice
    var options: ChatOptions
    var system: String
    /// What was said before, as models are given it.
    var before: [Message] = []
    var message: Message
    var schema: AnswerSchema?
    var streams = true
    /// What the person has decided about tools since the command began.
    var rules: [ApprovalRule] = []
    /// What was left out when the model was asked last.
    var cut: ContextCut?
    /// What only one kind of server understands.
    var extras: [String: String] = [:]
    /// Gives the place where it is written down; nil for a turn that nobody shall remember. It runs while the question is
    /// on its way already.
    var opening: (@Sendable () async -> Place?)?

    /// Who is waited for, as a person reads it; a server that chooses the model itself is named instead.
    var answerer: String {
        PlainText.escape(choice.model.isEmpty ? choice.provider.name : choice.model)
    }

    /// A place in the history.
    struct Place: Sendable {
        let conversation: Conversation
        /// The message that the new one follows.
        let after: MessageID?
        var placement = Placement.next
    }
}
