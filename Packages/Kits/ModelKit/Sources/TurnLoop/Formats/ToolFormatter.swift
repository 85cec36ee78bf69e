public import Capabilities

/// How tools are put to a model, and how its calls are found in what it says.
public protocol ToolFormatter: Sendable {
    /// A request in the form in which it is sent.
    func request(_ request: ChatRequest) -> ChatRequest
    /// Reads the events of the next answer of a conversation.
    func reader(after history: [Message]) -> any ToolReader
    /// A whole answer with its calls, which are the same that the reader has found.
    func answer(_ answer: ChatAnswer, after history: [Message]) -> ChatAnswer
}

/// Finds calls in the events of one answer as they come.
public protocol ToolReader {
    mutating func receive(_ events: [ChatEvent]) -> [ChatEvent]
    /// What was held back until it was clear what it is.
    mutating func finish() -> [ChatEvent]
}

/// For servers that know of tools themselves.
public struct NativeTools: ToolFormatter {
    public init() {}

    public func request(_ request: ChatRequest) -> ChatRequest { request }
    public func reader(after history: [Message]) -> any ToolReader { NativeReader() }
    public func answer(_ answer: ChatAnswer, after history: [Message]) -> ChatAnswer { answer }
}

private struct NativeReader: ToolReader {
    mutating func receive(_ events: [ChatEvent]) -> [ChatEvent] { events }
    mutating func finish() -> [ChatEvent] { [] }
}
