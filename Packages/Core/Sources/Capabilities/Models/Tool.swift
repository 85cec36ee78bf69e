public import JSON

/// Something that a model may ask to have done.
public struct ToolDescription: Sendable, Hashable {
    public var name: String
    public var summary: String
    /// JSON Schema of the input.
    public var input: JSON
    public var effect: Effect
    /// Whether it reaches others than this machine, or costs something; then no mode allows it without a question.
    public var sends: Bool
    /// How long it may take, for tools that end by themselves but not as soon as others; nil for the usual limit.
    public var limit: Duration?

    public init(
        name: String, summary: String, input: JSON, effect: Effect, sends: Bool = false, limit: Duration? = nil
    ) {
        self.name = name
        self.summary = summary
        self.input = input
        self.effect = effect
        self.sends = sends
        self.limit = limit
    }
}

/// A model's wish to use a tool.
public struct ToolCall: Sendable, Hashable {
    public var id: String
    public var name: String
    public var input: JSON
    /// Whether the server has done it itself already. Such a call is shown and never run or answered.
    public var isDone: Bool

    public init(id: String, name: String, input: JSON, isDone: Bool = false) {
        self.id = id
        self.name = name
        self.input = input
        self.isDone = isDone
    }
}

/// A call whose input cannot be read.
public struct MalformedCall: Sendable, Hashable {
    public var id: String
    public var name: String
    /// The input as the model wrote it.
    public var text: String
    /// What is wrong with it.
    public var reason: String

    public init(id: String, name: String, text: String, reason: String) {
        self.id = id
        self.name = name
        self.text = text
        self.reason = reason
    }
}

/// What came of a tool call.
public struct ToolResult: Sendable, Hashable {
    public var call: String
    public var content: String
    public var isError: Bool
    public var duration: Duration?
    /// Of a command that was run.
    public var exitCode: Int?

    public init(
        call: String, content: String, isError: Bool = false, duration: Duration? = nil, exitCode: Int? = nil
    ) {
        self.call = call
        self.content = content
        self.isError = isError
        self.duration = duration
        self.exitCode = exitCode
    }
}

/// How far a model goes without anybody being asked, where no rule says anything else.
public enum ToolMode: String, Choice, Hashable {
    /// It looks around.
    case readOnly = "read-only"
    /// It also writes files in the folder that it works in.
    case workspace
    /// It also runs commands, in a sandbox.
    case full
}

/// Offers tools and runs them.
public protocol ToolSource: AnyObject, Sendable {
    /// What the source is called in lists and policies, such as `files` or a server's name.
    var name: String { get }
    /// The tools that can be used now.
    func tools() async throws -> [ToolDescription]
    /// What a call would reach, looked at before anybody agrees to it. What it throws is what keeps the call from working.
    func reach(of call: ToolCall) async throws -> ToolReach
    /// Runs one; a tool that fails is a result with `isError`, a tool that cannot be reached throws.
    func run(_ call: ToolCall) async throws -> ToolResult
    /// The same, and tells what the tool prints while it runs, as a command does. It returns once `tell` has had it all.
    ///
    /// - Parameter agreed: what the call reached when it was approved. When it would reach something else now, the source
    ///   does nothing and throws `ToolReachChanged`.
    func run(
        _ call: ToolCall, reaching agreed: ToolReach, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult
}

extension ToolSource {
    /// Most sources know no more of a call than stands in it.
    public func reach(of call: ToolCall) async throws -> ToolReach { ToolReach() }

    /// Most tools have nothing to tell before they are done.
    public func run(
        _ call: ToolCall, reaching agreed: ToolReach, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        try await run(call)
    }
}

/// What a call would reach if it ran now, as its source understands it. Rules are compared with it, and it is what somebody
/// agrees to.
public struct ToolReach: Sendable, Hashable {
    /// The files and folders that it is about, absolute and with every link followed.
    public var paths: [AbsolutePath]
    /// Whether all that it does is to write these, in the folder that its source works in.
    public var onlyWritesPaths = false
    public var command: Command?
    /// What it would change, as a unified diff, for who is asked.
    public var diff: String?
    /// Another number when anything is another thing: a file that a link leads to, the content that would be replaced. It
    /// is compared within one process only.
    public var state: Int

    /// A command for a shell.
    public struct Command: Sendable, Hashable {
        public var text: String
        /// Whether it is kept from whatever it must not reach.
        public var isSandboxed: Bool
        /// Why it is not, or not from everything; for who is asked.
        public var caution: String?

        public init(_ text: String, isSandboxed: Bool, caution: String? = nil) {
            self.text = text
            self.isSandboxed = isSandboxed
            self.caution = caution
        }
    }

    public init(paths: [AbsolutePath] = [], command: Command? = nil, diff: String? = nil, state: Int = 0) {
        self.paths = paths
        self.command = command
        self.diff = diff
        self.state = state
    }
}

/// What a call reaches is not what was agreed to any more; nothing was done.
public struct ToolReachChanged: Error {
    public init() {}
}
