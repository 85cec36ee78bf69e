import AnthropicDialect
public import Capabilities
import Glibc
import JSON
import ModelKit
public import ProcessKit
public import TurnLoop

/// Anthropic's `claude` command as a backend: one process for each turn, used in its stream-json mode.
///
/// The command runs its own tools in the given folder, and its whole process is in a `ClaudeSandbox`. When it asks for
/// permission, the policy decides or calls `approve`, as in a `TurnLoop`. It gets only the environment variables given
/// here.
public struct ClaudeCommand: Sendable {
    /// Decides from the usage so far whether another round may start. An error ends the turn.
    public typealias Admit = @Sendable (_ rounds: Int, _ used: Usage) async throws -> Void

    /// The limits of one turn.
    public struct Limits: Sendable {
        /// The maximum number of requests to the model.
        public var rounds = 50
        /// How long an approval request may wait; after that it counts as denied.
        public var approval: Duration = .seconds(300)
        /// The time between SIGTERM, which is sent when the turn is stopped, and SIGKILL. It is half of the 200 ms in
        /// which a turn must stop, which leaves the rest for storing its end.
        public var grace: Duration = .milliseconds(100)
        /// How long the process may take to exit after its turn has ended.
        public var farewell: Duration = .seconds(2)
        /// The maximum size of one line of its output in bytes. A whole file or image can be in one line.
        public var line = 64 << 20
    }

    /// The path of the program.
    public let program: String
    /// The limits of each turn, which may be changed before `run`.
    public var limits = Limits()
    /// All of its environment variables.
    let environment: CommandEnvironment
    let launcher = Launcher()
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp

    /// - Parameter environment: All environment variables of the command, including a key for its service.
    public init(
        program: String, environment: CommandEnvironment, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.program = program
        self.clock = clock
        self.now = now
        // It is controlled by this program, so it must neither update itself nor send telemetry.
        self.environment = CommandEnvironment(
            environment.variables.merging([
                "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            ]) { $1 })
    }

    /// The installed command, or nil if there is none in the PATH of these variables.
    ///
    /// It gets the variables that describe the user and the system, and all of `adding`.
    public static func find(
        in variables: [String: String], adding: [String: String] = [:], clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp
    ) -> ClaudeCommand? {
        let path = variables["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        let program = path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/claude" }
            .first(where: isProgram)
        guard let program else { return nil }
        let kept = variables.filter { passed.contains($0.key) || $0.key.hasPrefix("XDG_") }
        return ClaudeCommand(
            program: program, environment: CommandEnvironment(kept.merging(adding) { $1 }), clock: clock, now: now)
    }

    private static func isProgram(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

    private static let passed: Set<String> = [
        "PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "CLAUDE_CONFIG_DIR", "HTTPS_PROXY", "HTTP_PROXY",
        "NO_PROXY", "https_proxy", "http_proxy", "no_proxy",
    ]

    /// Runs one turn. The user's message is the last of the request.
    ///
    /// Everything that the command says and does becomes one message, whose calls are already done. The id of its
    /// session is in `ChatStart.id`. Pass it as `resume` in the next turn, which then sends only what is new.
    /// Cancelling ends the process and its group, and keeps its output so far. A running round is not ended because of
    /// a limit.
    ///
    /// - Parameters:
    ///   - sandbox: The sandbox; nil to run with all rights of the user.
    ///   - approve: Asks for approval; nil to deny every call that needs it.
    ///   - admit: Called before each round except the first.
    /// - Throws: Only errors of `emit`. Failures of the command are in the outcome.
    public func run(
        _ request: ChatRequest, in folder: String, sandbox: ClaudeSandbox?, resume: String?, policy: ApprovalPolicy,
        approve: TurnLoop.Approve?, admit: @escaping Admit, emit: @escaping TurnLoop.Emit
    ) async throws -> TurnOutcome {
        let order = ClaudeOrder(request, in: folder, resume: resume)
        let run = ClaudeRun(
            self, order, sandbox: sandbox, policy: policy, approve: approve, admit: admit, emit: emit)
        return try await run.run()
    }
}

/// The arguments and messages for the command.
struct ClaudeOrder {
    /// The id of the request that starts the exchange.
    static let startID = "martlet-start"

    let arguments: [String]
    let folder: String
    let resume: String?
    /// Not passed as an argument, because any process can read those.
    private let systemPrompt: String
    /// The blocks of the user's message.
    private let content: JSON

    init(_ request: ChatRequest, in folder: String, resume: String?) {
        self.folder = folder
        self.resume = resume
        var arguments = [
            "-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
            "--include-partial-messages", "--permission-prompt-tool", "stdio",
            // The settings and servers of a project can name programs, which the command would start without asking.
            "--setting-sources", "user", "--strict-mcp-config",
            // It must ask this program, whatever the user's settings say.
            "--permission-mode", "default",
        ]
        if !request.model.isEmpty, request.model != "default" { arguments += ["--model=\(request.model)"] }
        if let resume { arguments += ["--resume=\(resume)"] }
        self.arguments = arguments
        systemPrompt = request.messages.filter { $0.role == .system }.map(\.text).joined(separator: "\n\n")
        var blocks: [JSON] = []
        let last = request.messages.lastIndex { $0.role == .user }
        // A resumed session knows what was said before.
        if resume == nil, let last { blocks += Self.history(request.messages[..<last]) }
        if let last { blocks += Self.blocks(of: request.messages[last]) }
        content = .array(blocks)
    }

    func command(_ program: String, _ environment: CommandEnvironment) -> Command {
        var command = Command(program, arguments, environment: environment, workingDirectory: folder)
        command.input = .pipe
        // Closing its input would end it only after its turn, which would run unwatched until then.
        command.endsWithParent = true
        return command
    }

    /// The first message, which makes it ask about every call, even those that it would run without asking.
    var start: JSON {
        var request: JSONObject = [
            "subtype": "initialize", "hooks": ["PreToolUse": [["hookCallbackIds": ["martlet"]]]],
        ]
        if !systemPrompt.isEmpty { request["appendSystemPrompt"] = .string(systemPrompt) }
        return ["type": "control_request", "request_id": .string(Self.startID), "request": .object(request)]
    }

    var message: JSON {
        [
            "type": "user", "message": ["role": "user", "content": content], "parent_tool_use_id": nil,
            "session_id": .string(resume ?? ""),
        ]
    }

    private static func history(_ messages: ArraySlice<Message>) -> [JSON] {
        let said = messages.compactMap { message -> String? in
            guard message.role == .user || message.role == .assistant, !message.text.isEmpty else { return nil }
            return (message.role == .user ? "User: " : "Assistant: ") + message.text
        }
        guard !said.isEmpty else { return [] }
        return [text("Earlier in this conversation:\n\n" + said.joined(separator: "\n\n") + "\n\nNow the user says:")]
    }

    private static func blocks(of message: Message) -> [JSON] {
        let request = ChatRequest(model: "claude", messages: [Message(.user, message.parts)])
        do {
            let blocks = try AnthropicDialect().body(of: request)["messages"]?[0]?["content"]?.array ?? []
            return blocks.map { block in
                // The command sets cache marks itself.
                guard case .object(var members) = block else { return block }
                members["cache_control"] = nil
                return .object(members)
            }
        } catch {
            return [text("\(message.text)\n\n[An attachment is left out: \(error.message)]")]
        }
    }

    private static func text(_ text: String) -> JSON { ["type": "text", "text": .string(text)] }
}
