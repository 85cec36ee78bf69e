import Capabilities
import CoreTesting
import FileKit
import GatewayModels
import Glibc
import HTTPTesting
import JSON
import ProcessKit
import Synchronization
import TurnLoop

/// A fake `claude`: a Python program that sends valid and invalid frames.
///
/// The script can use the functions of `prelude`. What it writes to the file `seen` can be read later.
struct ScriptedClaude: Sendable {
    let folder: String
    private(set) var command: ClaudeCommand

    private static let prelude = """
        #!/usr/bin/python3
        import json, os, signal, sys, time

        def say(**frame):
            frame.setdefault("session_id", "s-1")
            sys.stdout.write(json.dumps(frame) + "\\n")
            sys.stdout.flush()

        def hear():
            line = sys.stdin.readline()
            return json.loads(line) if line else None

        def begin(model="claude-test"):
            say(type="system", subtype="init", model=model, tools=["Bash"])

        def assistant(*content, id="m-1", **more):
            message = {"id": id, "role": "assistant", "model": "claude-test", "content": list(content),
                       "usage": {"input_tokens": 5, "output_tokens": 2}}
            message.update(more)
            say(type="assistant", message=message, parent_tool_use_id=None)

        def text(words):
            return {"type": "text", "text": words}

        def tool(name, input, id="t-1"):
            return {"type": "tool_use", "id": id, "name": name, "input": input}

        def result_of(content, id="t-1", is_error=False):
            say(type="user", parent_tool_use_id=None, message={"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}]})

        def ask(name, input, id="t-1", request="r-1", **more):
            say(type="control_request", request_id=request, request=dict(
                more, subtype="can_use_tool", tool_name=name, input=input, tool_use_id=id))

        def piece(**event):
            say(type="stream_event", event=event, parent_tool_use_id=None)

        def result(is_error=False, subtype="success", **more):
            frame = dict(type="result", subtype=subtype, is_error=is_error, num_turns=1, total_cost_usd=0.25,
                         usage={"input_tokens": 10, "output_tokens": 4, "cache_read_input_tokens": 3,
                                "cache_creation_input_tokens": 2})
            frame.update(more)
            say(**frame)

        def seen(value):
            with open(os.environ["SEEN"], "a") as file:
                file.write(json.dumps(value) + "\\n")

        start = hear()
        def answer_start(subtype="success", **more):
            say(type="control_response", response=dict(more, subtype=subtype, request_id=start["request_id"]))

        """

    /// Runs `body` with a command that runs a script.
    static func run<T>(
        _ script: String, answeringStart: Bool = true, clock: any Clock<Duration> = ContinuousClock(),
        variables: [String: String] = [:],
        isolation: isolated (any Actor)? = #isolation, _ body: (ScriptedClaude) async throws -> T
    ) async throws -> T {
        try await TemporaryDirectory.run { folder in
            let program = "\(folder)/claude"
            let opening = answeringStart ? "answer_start()\nmessage = hear()\n" : ""
            try await ProgramFile.write(prelude + opening + script + "\n", to: program)
            let environment = CommandEnvironment(
                ["PATH": "/usr/bin:/bin", "SEEN": "\(folder)/seen"].merging(variables) { $1 })
            let command = ClaudeCommand(
                program: program, environment: environment, clock: clock, now: { Timestamp(microseconds: 1_000_000) })
            // A command needs a caller.
            return try await Caller.$current.withValue(
                .person(HeadlessInteraction()),
                operation: { try await body(ScriptedClaude(folder: folder, command: command)) }, isolation: isolation)
        }
    }

    func with(_ change: (inout ClaudeCommand.Limits) -> Void) -> ScriptedClaude {
        var other = self
        change(&other.command.limits)
        return other
    }

    /// The values that the script has written to `seen`.
    func seen() throws -> [JSON] {
        guard Files.exists("\(folder)/seen") else { return [] }
        return try Files.read("\(folder)/seen", limit: 1 << 24).split(separator: 0x0A).map {
            try JSON(parsing: Array($0))
        }
    }

    /// One turn with its events.
    func turn(
        _ messages: [Message] = [Message(.user, "Hello")], model: String = "", resume: String? = nil,
        sandbox: ClaudeSandbox? = nil, policy: ApprovalPolicy = ApprovalPolicy(), approve: TurnLoop.Approve? = nil,
        admit: @escaping ClaudeCommand.Admit = { _, _ in },
        watching watch: @escaping @Sendable (TurnEvent) async throws -> Void = { _ in }
    ) async throws -> Turn {
        let record = Record()
        let outcome = try await command.run(
            ChatRequest(model: model, messages: messages), in: folder, sandbox: sandbox, resume: resume, policy: policy,
            approve: approve, admit: admit
        ) { events in
            record.add(events)
            for event in events { try await watch(event) }
        }
        return Turn(outcome: outcome, events: record.events)
    }

    struct Turn: Sendable {
        let outcome: TurnOutcome
        let events: [TurnEvent]

        /// The text as it was streamed.
        var streamed: String {
            events.map { if case .chat(.text(let text)) = $0 { text } else { "" } }.joined()
        }

        var message: Message { outcome.messages.last?.message ?? Message(.assistant, []) }

        var failure: AnyFailure? {
            if case .failed(let failure) = outcome.end { failure } else { nil }
        }

        var isAnswered: Bool { if case .answered = outcome.end { true } else { false } }
        var isStopped: Bool { if case .stopped = outcome.end { true } else { false } }

        /// The states of calls, in order.
        var states: [CallUpdate.State] {
            events.compactMap { if case .call(let update) = $0 { update.state } else { nil } }
        }
    }

    private final class Record: Sendable {
        private let all = Mutex<[TurnEvent]>([])
        var events: [TurnEvent] { all.withLock { $0 } }
        func add(_ events: [TurnEvent]) { all.withLock { $0 += events } }
    }
}

/// Waits for the end of a process; a killed process ends soon but not immediately.
func ends(_ process: Int) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(5)
    while ContinuousClock.now < deadline {
        if try hasEnded(process) { return true }
        await Task.yield()
    }
    return false
}

/// Whether no process has this id, or only a zombie.
private func hasEnded(_ process: Int) throws -> Bool {
    let path = "/proc/\(process)/stat"
    let stat: [UInt8]
    do { stat = try Files.read(path, limit: 4096) } catch {
        // It ended before or while it was read.
        if Files.exists(path) { throw error }
        return true
    }
    let fields = String(decoding: stat, as: UTF8.self).split(separator: " ")
    return fields.count < 3 || fields[2] == "Z" || fields[2] == "X"
}
