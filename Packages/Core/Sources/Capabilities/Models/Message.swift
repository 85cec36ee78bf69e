/// One entry of a conversation, in a form that fits every provider.
public struct Message: Sendable, Hashable {
    /// The party that a message comes from. A message of `tool` contains the results of calls.
    public enum Role: String, Choice, Hashable { case system, user, assistant, tool }

    /// The party that it comes from.
    public var role: Role
    /// The content, in order. One message can contain text, attachments and calls.
    public var parts: [Part]

    /// A piece of a message.
    public enum Part: Sendable, Hashable {
        /// Plain or Markdown text.
        case text(String)
        /// The model's reasoning before its answer.
        case reasoning(Reasoning)
        /// The model's explanation of why it does not answer.
        case refusal(String)
        /// An image or a file that was sent with the message.
        case attachment(Attachment)
        /// A tool that the model wants to use.
        case call(ToolCall)
        /// A call whose input is not valid JSON. It is answered with an error that the model can correct.
        case malformedCall(MalformedCall)
        /// The result of an earlier call, which names that call.
        case result(ToolResult)
    }

    /// A message of any parts.
    public init(_ role: Role, _ parts: [Part]) {
        self.role = role
        self.parts = parts
    }

    /// A message of a single text.
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
    /// The readable reasoning; empty if all of it is sealed.
    public var text: String
    /// Proves to the provider that the reasoning is its own.
    public var signature: String?
    /// Reasoning that only the provider can read.
    public var sealed: String?

    /// By default there is neither a signature nor sealed reasoning.
    public init(_ text: String, signature: String? = nil, sealed: String? = nil) {
        self.text = text
        self.signature = signature
        self.sealed = sealed
    }
}

/// An image or a file attached to a message.
public struct Attachment: Sendable, Hashable {
    /// The name to show for it, usually that of the file.
    public var name: String
    /// Such as `image/png` or `application/pdf`.
    public var mediaType: String
    /// The content itself, not encoded for any API.
    public var bytes: [UInt8]

    /// Takes the media type as given; it is not checked against the content.
    public init(name: String, mediaType: String, bytes: [UInt8]) {
        self.name = name
        self.mediaType = mediaType
        self.bytes = bytes
    }

    /// Whether the media type is that of an image.
    public var isImage: Bool { mediaType.hasPrefix("image/") }
}
