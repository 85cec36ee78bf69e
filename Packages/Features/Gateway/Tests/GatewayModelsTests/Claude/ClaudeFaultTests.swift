import Capabilities
import GatewayModels
import JSON
import ProcessKit
import Testing
import TurnLoop

@Suite("Failures of the claude command", .timeLimit(.minutes(5)))
struct ClaudeFaultTests {
    struct Refusal: Error {}

    @Test("A failure of the service is an error, although the frame says success")
    func service() async throws {
        let script = """
            begin()
            assistant(text("API Error: 500 the key sk-secret-value is bad."), model="<synthetic>")
            result(is_error=True, result="API Error: 500 the key sk-secret-value is bad.")
            sys.exit(1)
            """
        try await ScriptedClaude.run(script, variables: ["ANTHROPIC_API_KEY": "sk-secret-value"]) { claude in
            let turn = try await claude.turn()
            #expect(turn.failure?.code == "gateway.claude-failed")
            #expect(turn.failure?.message.contains("API Error: 500 the key … is bad") == true)
            #expect(turn.message.parts.isEmpty && turn.streamed.isEmpty)
        }
    }

    @Test("A refused key ends the turn at once, and the error says so", arguments: [401, 403])
    func denied(status: Int) async throws {
        let script = """
            begin()
            say(type="system", subtype="api_retry", attempt=1, max_retries=10, retry_delay_ms=500, error_status=\(status),
                error="authentication_failed")
            hear()
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn()
            #expect(turn.failure?.code == "gateway.claude-denied" && turn.failure?.exit == .denied)
            #expect(turn.failure?.message.contains("status \(status), authentication_failed") == true)
            #expect(!turn.events.contains { if case .notice = $0 { true } else { false } })
        }
    }

    @Test("Secrets are removed from its last message, even ones that it was not given")
    func secret() async throws {
        let script = """
            begin()
            sys.stderr.write("bad key sk-ant-api03-0123456789abcdefABCDEF\\n")
            sys.exit(3)
            """
        try await ScriptedClaude.run(script) { claude in
            let message = try #require(try await claude.turn().failure?.message)
            #expect(message.contains("bad key") && !message.contains("0123456789"))
        }
    }

    @Test("An exit without a result is a crash, and its output is kept")
    func crash() async throws {
        let script = """
            begin()
            assistant(text("I begin."))
            assistant(tool("Bash", {"command": "x"}))
            sys.stderr.write("something\\x1b[31m broke\\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL)
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn()
            #expect(turn.failure?.code == "gateway.claude-crashed")
            #expect(
                turn.failure?.message.contains("by signal 9") == true
                    && turn.failure?.message.contains("\u{1b}") == false)
            #expect(turn.outcome.messages.map(\.isWhole) == [false] && turn.message.text == "I begin.")
            // The call has a result, so that any provider accepts the history.
            #expect(
                turn.message.parts.last.map { if case .result(let result) = $0 { result.isError } else { false } }
                    == true)
        }
    }

    @Test("Invalid lines are ignored and reported once")
    func garbage() async throws {
        let script = """
            begin()
            for line in ["nonsense", "{", "[1]", "{}", "", "\\x00\\xff", '{"type": 3}', '{"type": "assistant"}',
                         '{"type": "result_of_nothing"}', '{"type": "user", "message": {"content": "text"}}',
                         '{"type": "control_request"}', '{"type": "stream_event"}']:
                sys.stdout.write(line + "\\n")
            assistant(text("Still here."))
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn()
            #expect(turn.isAnswered && turn.message.text == "Still here.", "\(turn.outcome.end)")
            #expect(turn.events.count { if case .notice = $0 { true } else { false } } == 1)
        }
    }

    @Test("A line of eight megabytes is read whole; a line above the limit ends the turn")
    func longLine() async throws {
        let script = """
            begin()
            assistant(tool("Read", {"file_path": "x"}))
            result_of("x" * (8 << 20))
            assistant(text("Read."), id="m-2")
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn()
            #expect(turn.isAnswered)
            let sizes = turn.message.parts.compactMap {
                if case .result(let result) = $0 { result.content.utf8.count } else { nil }
            }
            #expect(sizes == [8 << 20])
            let bounded = try await claude.with { $0.line = 1 << 20 }.turn()
            #expect(bounded.failure?.code == "process.line-too-long")
        }
    }

    @Test("A command that writes a lot before it reads does not cause a deadlock")
    func crossing() async throws {
        let script = """
            begin()
            ask("Write", {"content": "x" * (1 << 20)})
            for number in range(2000):
                say(type="noise", text="y" * 1000)
            answer = hear()
            assistant(text(str(len(answer["response"]["response"]["updatedInput"]["content"]))))
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let message = Message(.user, String(repeating: "a", count: 1 << 20))
            let turn = try await claude.turn([message], approve: { _ in ApprovalAnswer(isAllowed: true) })
            #expect(turn.isAnswered && turn.message.text == "1048576")
        }
    }

    @Test("A missing or invalid program is reported")
    func missing() async throws {
        try await ScriptedClaude.run("") { claude in
            for program in ["/nowhere/claude", claude.folder] {
                let command = ClaudeCommand(
                    program: program, environment: [:], clock: ContinuousClock(), now: { Timestamp(microseconds: 0) })
                let outcome = try await command.run(
                    ChatRequest(model: "", messages: [Message(.user, "x")]), in: "/", sandbox: nil, resume: nil,
                    policy: ApprovalPolicy(), approve: nil, admit: { _, _ in }
                ) { _ in }
                guard case .failed(let failure) = outcome.end else {
                    Issue.record("\(program) ended as \(outcome.end)")
                    continue
                }
                #expect(failure.code == "gateway.claude-missing")
            }
        }
    }

    @Test("An unknown session has its own error")
    func unknownSession() async throws {
        let script = """
            result(is_error=True, subtype="error_during_execution", num_turns=0,
                   errors=["No conversation found with session ID: s-0"])
            sys.exit(1)
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn(resume: "s-0")
            #expect(turn.failure?.code == "gateway.claude-session")
            #expect(turn.failure?.message.contains("No conversation found") == true)
            let fresh = try await claude.turn()
            #expect(fresh.failure?.code == "gateway.claude-failed")
        }
    }

    @Test("The command's own turn limit counts as the round limit")
    func turns() async throws {
        let script = "begin(); assistant(text('x')); result(is_error=True, subtype='error_max_turns')"
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn()
            guard case .roundLimit = turn.outcome.end else {
                Issue.record("\(turn.outcome.end)")
                return
            }
        }
    }

    @Test("An error of the events' reader ends the process and is thrown")
    func refusing() async throws {
        let script = """
            seen([os.getpid()])
            begin()
            assistant(text("x"))
            hear()
            """
        try await ScriptedClaude.run(script) { claude in
            await #expect(throws: Refusal.self) {
                try await claude.turn(watching: { event in
                    if case .chat(.text) = event { throw Refusal() }
                })
            }
            let number = try #require(try claude.seen().first?[0]?.int)
            #expect(try await ends(number))
        }
    }
}
