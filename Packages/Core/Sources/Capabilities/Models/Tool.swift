public import JSON

/// Something that a model may ask to have done.
public struct ToolDescription: Sendable, Hashable {
    public var name: String
    public var summary: String
    /// JSON Schema of the input.
    public var input: JSON
    public var effect: Effect

    public init(name: String, summary: String, input: JSON, effect: Effect) {
        self.name = name
        self.summary = summary
        self.input = input
        self.effect = effect
    }
}

/// A model's wish to use a tool.
public struct ToolCall: Sendable, Hashable {
    public var id: String
    public var name: String
    public var input: JSON

    public init(id: String, name: String, input: JSON) {
        self.id = id
        self.name = name
        self.input = input
    }
}

/// What came of a tool call.
public struct ToolResult: Sendable, Hashable {
    public var call: String
    public var content: String
    public var isError: Bool

    public init(call: String, content: String, isError: Bool = false) {
        self.call = call
        self.content = content
        self.isError = isError
    }
}

/// Offers tools and runs them.
public protocol ToolSource: AnyObject, Sendable {
    /// The tools that can be used now.
    func tools() async throws -> [ToolDescription]
    /// Runs one; a tool that fails is a result with `isError`, a tool that cannot be reached throws.
    func run(_ call: ToolCall) async throws -> ToolResult
}
