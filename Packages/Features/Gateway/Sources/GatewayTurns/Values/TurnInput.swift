public import Capabilities

/// A client's request.
public struct TurnInput: Sendable {
    /// The request as the client sent it. The model is `PROVIDER/MODEL`, an id that only one provider has, or empty for
    /// the default.
    public var chat: ChatRequest
    /// The project whose folder the tools work in; nil for that of the session.
    public var project: String?
    /// The session to continue; an agent turn without one creates a session.
    public var session: String?
    /// Instructions for the model; nil for the request's system messages, or else the session's.
    public var systemPrompt: String?
    /// The offered tools; nil for those of the session.
    public var selection: ToolSelection?
    /// Whether tools run here and the session is stored. Otherwise the model is asked once, with the client's request.
    public var isAgent: Bool
    /// Whether the client can answer approval requests. If not, calls that need approval are denied.
    public var canAsk = false
    /// What the tools of the project may do without approval.
    public var mode = ToolMode.readOnly
    /// The client; nil without authentication.
    public var client: TurnClient?
    /// Whether an agent turn continues when its client disconnects; nil to follow the settings.
    public var keepsRunning: Bool?

    /// A request without project, session and client; they can be set afterwards.
    public init(_ chat: ChatRequest, isAgent: Bool = false) {
        self.chat = chat
        self.isAgent = isAgent
    }
}

/// The client that asks for a turn.
public struct TurnClient: Sendable, Hashable {
    /// The client's name in the audit log and the usage.
    public let name: String
    /// Distinguishes its token from another one with the same name without being the token; nil for a client without
    /// its own token.
    public let credential: String?

    /// - Parameter credential: distinguishes its token; nil for a client without its own token.
    public init(_ name: String, credential: String? = nil) {
        self.name = name
        self.credential = credential
    }

    /// The name whose budget applies; nil for a client without its own token.
    var budgeted: String? { credential == nil ? nil : name }
}
