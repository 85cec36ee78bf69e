/// One entry of a conversation, in a form that fits every provider.
public struct Message: Sendable, Hashable {
    public enum Role: String, Choice, Hashable { case system, user, assistant, tool }

    public var role: Role
    public var parts: [Part]

    /// A piece of a message.
    public enum Part: Sendable, Hashable {
        case text(String)
        /// The model's reasoning before its answer.
        case reasoning(Reasoning)
        /// The model's explanation of why it does not answer.
        case refusal(String)
        case attachment(Attachment)
        case call(ToolCall)
        /// A call whose input is not valid JSON. It is answered with an error that the model can correct.
        case malformedCall(MalformedCall)
        case result(ToolResult)
    }

    public init(_ role: Role, _ parts: [Part]) {
        self.role = role
        self.parts = parts
    }

    public init(_ role: Role, _ text: String) {
        self.init(role, [.text(text)])
    }

    /// All its text, in order.
    public var text: String {
        parts.compactMap { if case .text(let text) = $0 { text } else { nil } }.joined()
    }

    /// The tool calls in it, in order.
    public var calls: [ToolCall] {
        parts.compactMap { if case .call(let call) = $0 { call } else { nil } }
    }
}

/// Reasoning of a model, which some providers require to be sent back unchanged.
public struct Reasoning: Sendable, Hashable {
    public var text: String
    /// Proves to the provider that the reasoning is its own.
    public var signature: String?
    /// Reasoning that only the provider can read.
    public var sealed: String?

    public init(_ text: String, signature: String? = nil, sealed: String? = nil) {
        self.text = text
        self.signature = signature
        self.sealed = sealed
    }
}

/// An image or a file attached to a message.
public struct Attachment: Sendable, Hashable {
    public var name: String
    /// Such as `image/png` or `application/pdf`.
    public var mediaType: String
    public var bytes: [UInt8]

    public init(name: String, mediaType: String, bytes: [UInt8]) {
        self.name = name
        self.mediaType = mediaType
        self.bytes = bytes
    }

    public var isImage: Bool { mediaType.hasPrefix("image/") }
}
