public import Capabilities
public import StorageKit

/// One call of a tool, with what went in and what came out, whole.
public struct CallEntry: Sendable, Hashable {
    /// What the history calls it; nil until it is stored. Models use their own ids several times over.
    public var id: CallID?
    public var call: ToolCall
    /// Who offers the tool.
    public var source: String?
    public var effect: Effect?
    public var state: State
    /// Who allowed or denied it, in a word.
    public var decision: String?
    /// What came of it, whole; a model may have been given less.
    public var result: ToolResult?
    public var started: Timestamp?
    public var ended: Timestamp?

    public enum State: String, Choice, Hashable { case waiting, approved, denied, running, done, failed }

    public init(
        _ call: ToolCall, _ state: State, source: String? = nil, effect: Effect? = nil, decision: String? = nil,
        result: ToolResult? = nil, started: Timestamp? = nil, ended: Timestamp? = nil
    ) {
        self.call = call
        self.state = state
        self.source = source
        self.effect = effect
        self.decision = decision
        self.result = result
        self.started = started
        self.ended = ended
    }
}

/// What one call is called, in the whole history.
public struct CallID: RawRepresentable, Sendable, Hashable, Storable {
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

extension CallEntry.State: Storable {}
