/// One entry of a conversation, in the words that every provider can be given.
public struct Message: Sendable, Hashable {
    public enum Role: String, Choice, Hashable { case system, user, assistant, tool }

    public var role: Role
    public var parts: [Part]

    /// A piece of a message.
    public enum Part: Sendable, Hashable {
        case text(String)
        /// What the model thought before it answered.
        case reasoning(Reasoning)
        /// The model's own words for why it does not answer.
        case refusal(String)
        case attachment(Attachment)
        case call(ToolCall)
        /// A call whose input is no JSON, which is answered with an error that the model can mend.
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

    /// The tools that it asks for, in order.
    public var calls: [ToolCall] {
        parts.compactMap { if case .call(let call) = $0 { call } else { nil } }
    }
}

/// Thoughts of a model, which some providers want back exactly as they were.
public struct Reasoning: Sendable, Hashable {
    public var text: String
    /// What proves to the provider that the thoughts are its own.
    public var signature: String?
    /// Thoughts that only the provider can read.
    public var sealed: String?

    public init(_ text: String, signature: String? = nil, sealed: String? = nil) {
        self.text = text
        self.signature = signature
        self.sealed = sealed
    }
}

/// An image or a file that goes with a message.
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
