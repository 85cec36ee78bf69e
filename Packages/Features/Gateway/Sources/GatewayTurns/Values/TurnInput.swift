public import Capabilities
public import GatewayStore

/// What a client wants answered.
public struct TurnInput: Sendable {
    /// As the client sent it. The model is `PROVIDER/MODEL`, an id that only one provider has, or empty for the default.
    public var chat: ChatRequest
    /// The project whose folder the tools work in; that of the session when nil.
    public var project: String?
    /// The session that is gone on with; an agent turn without one makes a new one.
    public var session: String?
    /// What the model is told first; the request's own system messages when nil, and the session's when there are none.
    public var systemPrompt: String?
    /// Which tools are offered; those of the session when nil.
    public var selection: ToolSelection?
    /// Whether tools run here and the session remembers. Otherwise the model is asked once, with what the client sent.
    public var isAgent: Bool
    /// Whether the client understands questions. Where it does not, what had to be asked is denied.
    public var canAsk = false
    /// How far the tools of the project go unasked.
    public var mode = ToolMode.readOnly
    /// Who asks; nil where nobody had to say.
    public var client: TurnClient?
    /// Whether an agent turn goes on when its client vanishes; as the settings say when nil.
    public var keepsRunning: Bool?

    public init(_ chat: ChatRequest, isAgent: Bool = false) {
        self.chat = chat
        self.isAgent = isAgent
    }
}

/// Who asks for a turn, as the gateway knows them.
public struct TurnClient: Sendable, Hashable {
    /// As the audit and the usage call them.
    public let name: String
    /// What tells its token from another one of the same name, and is not the token; nil for who has none of its own.
    public let credential: String?

    public init(_ name: String, credential: String? = nil) {
        self.name = name
        self.credential = credential
    }

    /// Whose budget counts, where its token may have one.
    var budgeted: String? { credential == nil ? nil : name }
}
