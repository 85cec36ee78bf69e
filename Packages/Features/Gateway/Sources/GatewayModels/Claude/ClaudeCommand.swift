import AnthropicDialect
public import Capabilities
import Glibc
import JSON
import ModelKit
public import ProcessKit
public import TurnLoop

/// Anthropic's `claude` command as a backend: one process for each turn, spoken to in its stream-json mode.
///
/// The command has tools of its own and runs them in the folder that it is given, with all of its process in a
/// `ClaudeSandbox`. When it wants to know whether it may, the policy decides or has `approve` asked, as in a `TurnLoop`. It
/// gets the variables that it is given here and no others.
public struct ClaudeCommand: Sendable {
    /// Decides by what was used so far whether another round may begin; what it throws ends the turn.
    public typealias Admit = @Sendable (_ rounds: Int, _ used: Usage) async throws -> Void

    /// How far one turn may go.
    public struct Limits: Sendable {
        /// How often the command may ask its model.
        public var rounds = 50
        /// How long a person may think about an approval; after that it counts as denied.
        public var approval: Duration = .seconds(300)
        /// How long it may take after SIGTERM, which it gets as soon as the turn is to stop, before it gets SIGKILL. Half of
        /// the 200 ms in which a turn has to stop, so that the rest is left for its end.
        public var grace: Duration = .milliseconds(100)
        /// How long it may take to go after its turn has ended.
        public var farewell: Duration = .seconds(2)
        /// How long one line of its output may be, in bytes. Contents of files and images stand in one line.
        public var line = 64 << 20

        public init() {}
    }

    /// Where the program is.
    public let program: String
    public var limits = Limits()
    /// All of its variables.
    let environment: CommandEnvironment
    let launcher = Launcher()
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp

    /// - Parameter environment: all that the command gets to see; a key for its service belongs here.
    public init(
        program: String, environment: CommandEnvironment, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.program = program
        self.clock = clock
        self.now = now
        // It runs under somebody else's control, so that it must neither replace itself nor report anything.
        self.environment = CommandEnvironment(
            environment.variables.merging([
                "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            ]) { $1 })
    }

    /// The command as it is installed, or nil when there is none in the PATH of these variables.
    ///
    /// Of the variables it gets those that say who and where the user is, and all of `adding`.
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

    /// Runs one turn; the person's message is the last of the request.
    ///
    /// All that the command says and does becomes one message, whose calls are done already. The id of its session is in
    /// `ChatStart.id` and can be given to `resume` in the next turn, which then sends only what is new. Cancelling ends
    /// the process and its group; what has come is kept. A round that has begun is not broken off for a limit.
    ///
    /// - Parameters:
    ///   - sandbox: nil to run it with all that the user may do.
    ///   - approve: nil where nobody is there; what had to be asked is denied then.
    ///   - admit: is asked before each round but the first.
    /// - Throws: only what `emit` throws. What goes wrong with the command is in the outcome.
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

/// What the command is started with and told.
struct ClaudeOrder {
    /// The id of the request that begins the talk.
    static let startID = "martlet-start"

    let arguments: [String]
    let folder: String
    let resume: String?
    /// Not among the arguments, which any process can read.
    private let systemPrompt: String
    /// The blocks of the person's message.
    private let content: JSON

    init(_ request: ChatRequest, in folder: String, resume: String?) {
        self.folder = folder
        self.resume = resume
        var arguments = [
            "-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
            "--include-partial-messages", "--permission-prompt-tool", "stdio",
            // A project's settings and servers name programs, which the command would start without asking anybody.
            "--setting-sources", "user", "--strict-mcp-config",
            // Whatever the user's own settings say, it asks us.
            "--permission-mode", "default",
        ]
        if !request.model.isEmpty, request.model != "default" { arguments += ["--model=\(request.model)"] }
        if let resume { arguments += ["--resume=\(resume)"] }
        self.arguments = arguments
        systemPrompt = request.messages.filter { $0.role == .system }.map(\.text).joined(separator: "\n\n")
        var blocks: [JSON] = []
        let last = request.messages.lastIndex { $0.role == .user }
        // A session that goes on knows what was said before.
        if resume == nil, let last { blocks += Self.history(request.messages[..<last]) }
        if let last { blocks += Self.blocks(of: request.messages[last]) }
        content = .array(blocks)
    }

    func command(_ program: String, _ environment: CommandEnvironment) -> Command {
        var command = Command(program, arguments, environment: environment, workingDirectory: folder)
        command.input = .pipe
        // The end of its input would only end it after its turn, in which it may do much that nobody watches.
        command.endsWithParent = true
        return command
    }

    /// The first thing that it is told: it asks us about every call, also those that it would do without a question.
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
                // Where to mark the cache is the command's own affair.
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
