public import Capabilities

/// Something that happens while a turn runs, in the order in which it happens.
public enum TurnEvent: Sendable, Hashable {
    /// The model is asked, for the n-th time in this turn.
    case round(Int)
    /// Something that the model's answer brought.
    case chat(ChatEvent)
    /// A tool call has come to another state.
    case call(CallUpdate)
    /// More of what a tool prints while it runs; the result has all of it again.
    case output(call: String, text: String)
    /// A message that belongs to the conversation from now on.
    case message(TurnMessage)
    /// The person wants an approval to last; it already counts for the rest of the turn.
    case remember(ApprovalRule)
    /// Not all of the history is sent.
    case context(ContextNotice)
    /// Something that a person should know.
    case notice(String)
}

/// A message as it has to be stored, with what is known about how it came into being.
public struct TurnMessage: Sendable, Hashable {
    /// Results of tools are whole here, however much of them the model is given.
    public var message: Message
    /// False for an answer that was stopped or broke off.
    public var isWhole: Bool
    public var start: ChatStart?
    public var finish: ChatAnswer.Finish?
    public var usage: Usage?

    public init(
        _ message: Message, isWhole: Bool = true, start: ChatStart? = nil, finish: ChatAnswer.Finish? = nil,
        usage: Usage? = nil
    ) {
        self.message = message
        self.isWhole = isWhole
        self.start = start
        self.finish = finish
        self.usage = usage
    }
}
