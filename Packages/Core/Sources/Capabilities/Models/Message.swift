/// One entry of a conversation, in the words that every provider can be given.
public struct Message: Sendable, Hashable {
    public enum Role: String, Choice, Hashable { case system, user, assistant, tool }

    public var role: Role
    public var parts: [Part]

    /// A piece of a message.
    public enum Part: Sendable, Hashable {
        case text(String)
        case call(ToolCall)
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
}
