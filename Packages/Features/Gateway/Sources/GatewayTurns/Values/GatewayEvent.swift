public import Capabilities

/// An event that is sent to a client while its request is answered, in chronological order.
public enum GatewayEvent: Sendable, Hashable {
    /// The request is accepted; always the first event.
    case began(TurnPlace)
    /// Which model answers, if the requested name left that open.
    case answers(TurnPlace)
    /// An event of the model's answer. In an agent turn calls run here: they have `isDone` and the tool's own name, and
    /// a `.result` follows each. `.usage` is the sum of the turn so far.
    case chat(ChatEvent)
    /// Output of a running tool. Its result contains all of it again.
    case output(call: String, text: String)
    /// A call needs approval before the turn continues.
    case approval(ApprovalTicket)
    /// A message for the user.
    case notice(String)
}

/// The session, project and model of a turn.
public struct TurnPlace: Sendable, Hashable {
    /// Nil for a completion, which is not stored.
    public var session: String?
    /// The id of the project; nil if the turn works in no folder.
    public var project: String?
    /// The id of the model's provider.
    public var provider: String
    /// The model's id at its provider.
    public var model: String

    /// The model's name in requests: `PROVIDER/MODEL`.
    public var name: String { "\(provider)/\(model)" }
}
