public import JSON

/// A tool that a model may call.
public struct ToolDescription: Sendable, Hashable {
    /// The name by which models call it.
    public var name: String
    /// The name for people; nil for the name itself.
    public var title: String?
    /// What it does and when to use it, written for the model.
    public var summary: String
    /// JSON Schema of the input.
    public var input: JSON
    /// JSON Schema of the structured result; nil if there is none.
    public var output: JSON?
    /// The strongest effect that a call can have.
    public var effect: Effect
    /// Whether it sends something off this machine, or costs something. No mode allows such a tool without a question.
    public var sends: Bool
    /// A time limit for tools that end by themselves but take longer than others; nil for the usual limit.
    public var limit: Duration?
    /// What the server of the tool says of its effects. An untrusted party says so: it labels a question, and decides
    /// nothing.
    public var hints: [String]

    /// By default it sends nothing, has the usual time limit, and its result is only text.
    public init(
        name: String, title: String? = nil, summary: String, input: JSON, output: JSON? = nil, effect: Effect,
        sends: Bool = false, limit: Duration? = nil, hints: [String] = []
    ) {
        self.name = name
        self.title = title
        self.summary = summary
        self.input = input
        self.output = output
        self.hints = hints
        self.effect = effect
        self.sends = sends
        self.limit = limit
    }
}

/// A model's request to use a tool.
public struct ToolCall: Sendable, Hashable {
    /// The id that the model or its server gave to the call; the result refers to it.
    public var id: String
    /// The name of the tool.
    public var name: String
    /// The arguments as the model wrote them, not yet checked against the tool's schema.
    public var input: JSON
    /// Whether the server has already run it. Such a call is shown, but never run or answered.
    public var isDone: Bool

    /// By default it has not been run yet.
    public init(id: String, name: String, input: JSON, isDone: Bool = false) {
        self.id = id
        self.name = name
        self.input = input
        self.isDone = isDone
    }
}

/// A call whose input cannot be parsed.
public struct MalformedCall: Sendable, Hashable {
    /// The id of the call; the error that answers it refers to it.
    public var id: String
    /// The name of the tool.
    public var name: String
    /// The input as the model wrote it.
    public var text: String
    /// Why it cannot be parsed.
    public var reason: String

    /// Used by code that reads the answers of models.
    public init(id: String, name: String, text: String, reason: String) {
        self.id = id
        self.name = name
        self.text = text
        self.reason = reason
    }
}

/// The result of a tool call.
public struct ToolResult: Sendable, Hashable {
    /// The id of the call that it answers.
    public var call: String
    /// What the tool gave back, in order; an error message if it failed.
    public var parts: [ToolPart]
    /// The same for programs, if the tool gives that.
    public var structured: JSON?
    /// Whether the tool failed.
    public var isError: Bool
    /// How long the tool ran; nil if that was not measured.
    public var duration: Duration?
    /// The exit code of a command.
    public var exitCode: Int?

    /// By default the tool succeeded.
    public init(
        call: String, parts: [ToolPart], structured: JSON? = nil, isError: Bool = false, duration: Duration? = nil,
        exitCode: Int? = nil
    ) {
        self.call = call
        self.parts = parts
        self.structured = structured
        self.isError = isError
        self.duration = duration
        self.exitCode = exitCode
    }

    /// A result that is one text.
    public init(
        call: String, content: String, isError: Bool = false, duration: Duration? = nil, exitCode: Int? = nil
    ) {
        self.init(call: call, parts: [.text(content)], isError: isError, duration: duration, exitCode: exitCode)
    }

    /// Everything as text, for a model or a person who sees only text. An image is named in it.
    public var content: String {
        if parts.count == 1, case .text(let text) = parts[0] { return text }
        if parts.isEmpty { return structured?.text() ?? "" }
        return parts.map(\.text).joined(separator: "\n")
    }

    /// The images in it.
    public var images: [Attachment] {
        parts.compactMap { if case .media(let media) = $0, media.isImage { media } else { nil } }
    }
}

/// How far a model may go without asking, where no rule applies.
public enum ToolMode: String, Choice, Hashable {
    /// It may read.
    case readOnly = "read-only"
    /// It may also write files in its working folder.
    case workspace
    /// It may also run commands in a sandbox.
    case full
}

/// Offers tools and runs them.
public protocol ToolSource: AnyObject, Sendable {
    /// The name of the source in lists and policies, such as `files` or a server's name.
    var name: String { get }
    /// Whether its tools belong to this program, and not to a server that somebody else runs. Models know the tools of
    /// others by the name of their source too, so that none can take the name of another.
    var isBuiltIn: Bool { get }
    /// Who set it up; never `all`.
    var scope: AgentToolScope { get }
    /// The version of what is behind it, as far as that is known now.
    var version: String? { get }
    /// The tools that are available now.
    func tools() async throws -> [ToolDescription]
    /// What a call would reach, determined before approval. Throws if the call cannot work.
    func reach(of call: ToolCall) async throws -> ToolReach
    /// Runs a call. A tool that fails returns a result with `isError`; a tool that cannot be reached throws.
    func run(_ call: ToolCall) async throws -> ToolResult
    /// The same, and reports what the tool prints while it runs, such as the output of a command. Returns after `tell`
    /// has received all of it.
    ///
    /// - Parameter agreed: what the call reached when it was approved. If it would reach something else now, the source
    ///   does nothing and throws `ToolReachChanged`.
    func run(
        _ call: ToolCall, reaching agreed: ToolReach, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult
}

extension ToolSource {
    /// Sources are part of the program unless they say otherwise.
    public var isBuiltIn: Bool { true }

    /// What is part of the program belongs to its person.
    public var scope: AgentToolScope { .user }

    /// Most sources have no version of their own.
    public var version: String? { nil }

    /// Most sources know no more about a call than it contains.
    public func reach(of call: ToolCall) async throws -> ToolReach { ToolReach() }

    /// Most tools report nothing before they finish.
    public func run(
        _ call: ToolCall, reaching agreed: ToolReach, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        try await run(call)
    }
}

/// What a call would reach if it ran now, as its source understands it. Rules are matched against it, and it is what
/// the person approves.
public struct ToolReach: Sendable, Hashable {
    /// The files and folders involved, absolute and with all links resolved.
    public var paths: [AbsolutePath]
    /// Whether it does nothing but write these paths, inside the working folder of its source.
    public var onlyWritesPaths = false
    /// The shell command that it would run; nil if it runs none.
    public var command: Command?
    /// The changes as a unified diff, to show when asking for approval.
    public var diff: String?
    /// Why earlier approvals do not count, such as that the tool has changed since; nil if they do.
    public var renewal: String?
    /// Changes if anything involved changes: a file that a link leads to, or the content to be replaced. Comparable
    /// only within one process.
    public var state: Int

    /// A shell command.
    public struct Command: Sendable, Hashable {
        /// The command line, as the shell gets it.
        public var text: String
        /// Whether a sandbox restricts it.
        public var isSandboxed: Bool
        /// Why it is not sandboxed, or not completely, to show when asking for approval.
        public var caution: String?

        /// A command that needs no explanation has no caution.
        public init(_ text: String, isSandboxed: Bool, caution: String? = nil) {
            self.text = text
            self.isSandboxed = isSandboxed
            self.caution = caution
        }
    }

    /// By default it reaches nothing, and earlier approvals count. `onlyWritesPaths` and `renewal` are set afterwards.
    public init(paths: [AbsolutePath] = [], command: Command? = nil, diff: String? = nil, state: Int = 0) {
        self.paths = paths
        self.command = command
        self.diff = diff
        self.state = state
    }
}

/// A call would now reach something other than what was approved; nothing was done.
public struct ToolReachChanged: Error {
    /// Thrown by a tool source before it does anything.
    public init() {}
}
