public import Capabilities

/// Something that a client is told while it is answered, in the order in which it happens.
public enum GatewayEvent: Sendable, Hashable {
    /// The request is accepted; always the first event.
    case began(TurnPlace)
    /// Which model it is that answers, where the name asked for left that open.
    case answers(TurnPlace)
    /// What the model brings. In an agent turn calls are done here: they come with `isDone`, under the tool's own name,
    /// and a `.result` follows each. `.usage` is the sum of the turn so far.
    case chat(ChatEvent)
    /// More of what a tool prints while it runs; its result has all of it again.
    case output(call: String, text: String)
    /// Somebody has to agree before the turn goes on.
    case approval(ApprovalTicket)
    /// Something that a person should know.
    case notice(String)
}

/// Where a turn takes place, and who answers.
public struct TurnPlace: Sendable, Hashable {
    /// Nil for a completion, which nothing remembers.
    public var session: String?
    public var project: String?
    public var provider: String
    /// The model's id, as its provider knows it.
    public var model: String

    /// What the model is asked for by here: `PROVIDER/MODEL`.
    public var name: String { "\(provider)/\(model)" }

    public init(session: String? = nil, project: String? = nil, provider: String, model: String) {
        self.session = session
        self.project = project
        self.provider = provider
        self.model = model
    }
}
