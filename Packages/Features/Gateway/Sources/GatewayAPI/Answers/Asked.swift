import Capabilities
import GatewayStore
import GatewayTurns
import JSON

/// The frames that a client wants, where it says so.
enum DialectWish: String, Choice {
    case plain, rich
}

/// Whether a client that sees questions can answer them, where it says so.
enum ApprovalWish: String, Choice {
    case ask, deny
}

/// What a request wants of the gateway, whatever dialect it was written in.
struct Asked: Sendable {
    var input: TurnInput
    /// Whether tools run here, and the session remembers.
    let isAgent: Bool
    /// Whether frames of gateways are understood.
    let isRich: Bool
    let streams: Bool

    /// The model as the client named it.
    var model: String { input.chat.model }

    /// Takes out of the request what is meant for the gateway itself. A client that brings tools of its own wants to run
    /// them, so that nothing runs here then.
    ///
    /// - Parameters:
    ///   - native: How the client wrote it.
    ///   - hasFrames: Whether the client's API has room for the frames of gateways.
    ///   - approvals: What becomes of calls that have to be asked for.
    init(
        _ chat: ChatRequest, _ native: NativeRequest, wish: DialectWish?, hasFrames: Bool,
        approvals: ApprovalWish? = nil, _ services: APIServices
    ) throws(ValueError) {
        var chat = chat
        chat.native = native
        func take(_ key: String) -> JSON? {
            defer { chat.extras[key] = nil }
            return chat.extras[key]
        }
        let project = take("project_id")?.filled
        let session = take("session_id")?.filled
        let prompt = take("system_prompt")?.filled
        let tools = take("mcp")
        let names = project != nil || session != nil || tools != nil
        isAgent = chat.tools.isEmpty && (names || wish == .rich)
        isRich = hasFrames && isAgent && wish != .plain
        streams = chat.streams
        input = TurnInput(chat, isAgent: isAgent)
        input.project = project
        input.session = session
        input.systemPrompt = prompt
        input.selection = try tools.map(Self.selection)
        // Only a client that sees the question can answer it.
        input.canAsk = isRich && streams && approvals != .deny
        input.keepsRunning = services.keepsRunning
    }

    private static func selection(_ json: JSON) throws(ValueError) -> ToolSelection {
        try ToolsBody(json: json).selection
    }
}

extension JSON {
    /// A text that is not empty.
    fileprivate var filled: String? { string.flatMap { $0.isEmpty ? nil : $0 } }
}
