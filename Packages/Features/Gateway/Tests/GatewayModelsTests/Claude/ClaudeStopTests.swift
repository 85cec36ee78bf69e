import Capabilities
import GatewayModels
import Glibc
import JSON
import ProcessKit
import Synchronization
import Testing
import TurnLoop

@Suite("Stopping the claude command", .timeLimit(.minutes(5)))
struct ClaudeStopTests {
    @Test("A stop asks the command first, and a turn that then ends keeps what it said")
    func interrupting() async throws {
        let script = """
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            begin()
            assistant(text("I think"))
            frame = hear()
            seen(frame)
            say(type="control_response", response={"subtype": "success", "request_id": frame["request_id"]})
            result(is_error=True, subtype="error_during_execution", terminal_reason="aborted_streaming")
            seen({"end": hear()})
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await stopping(claude.with { $0.grace = .seconds(30) })
            #expect(turn.isStopped && turn.message.text == "I think" && turn.outcome.messages.map(\.isWhole) == [false])
            let seen = try claude.seen()
            #expect(seen[0]["request"] == ["subtype": "interrupt"])
            // Its input was closed then, so that it could end by itself.
            #expect(seen.count == 2 && seen[1]["end"] == nil || seen[1]["end"]?.isNull == true)
        }
    }

    @Test("A command that ignores signals is killed with all its child processes")
    func deaf() async throws {
        let script = """
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            child = os.fork()
            if child == 0:
                time.sleep(3600)
            seen([os.getpid(), child])
            begin()
            assistant(text("I think"))
            while True:
                time.sleep(3600)
            """
        try await ScriptedClaude.run(script) { claude in
            var best = Duration.seconds(60)
            for _ in 0..<3 {
                let stop = Stopwatch()
                let turn = try await stopping(claude, stop)
                #expect(turn.isStopped && turn.message.text == "I think")
                best = min(best, stop.time)
            }
            // The grace period leaves time for the end within 200 ms, with some allowance for a busy machine.
            let grace = claude.command.limits.grace
            #expect(grace <= .milliseconds(150))
            #expect(best >= grace - .milliseconds(5) && best < .seconds(2), "\(best)")
            let numbers = try claude.seen().flatMap { $0.array ?? [] }.compactMap(\.int)
            #expect(numbers.count == 6)
            for number in numbers { #expect(try await ends(number)) }
        }
    }

    @Test("A stopped turn counts the tokens of its last message")
    func counts() async throws {
        let script = """
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            begin("claude-opus-5")
            piece(type="message_start", message={"id": "m-1", "role": "assistant", "content": [], "usage": {
                "input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 1}})
            piece(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
            piece(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "I think"})
            hear()
            result(is_error=True, subtype="error_during_execution", usage={"input_tokens": 0, "output_tokens": 0},
                   total_cost_usd=0.0539)
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await stopping(claude.with { $0.grace = .seconds(30) })
            #expect(turn.isStopped && turn.outcome.rounds == 1)
            #expect(turn.outcome.usage.inputTokens == 120 && turn.outcome.usage.outputTokens == 1)
            #expect(turn.outcome.messages.map(\.usage) == [turn.outcome.usage])
        }
    }

    @Test("A stop reaches the whole process group at once, even while its events are not read")
    func group() async throws {
        let script = """
            def end(*_):
                if child: os.waitpid(child, 0)
                seen(1 if child else 0)
                os._exit(0)
            child = 0
            signal.signal(signal.SIGTERM, end)
            there, here = os.pipe()
            child = os.fork()
            if child:
                # Python forgets signals that come while it is being forked.
                os.read(there, 1)
                begin()
                assistant(text("I think"))
            else:
                os.write(here, b"x")
            # A signal that comes just before a sleep does not end it.
            while True:
                time.sleep(0.05)
            """
        try await ScriptedClaude.run(script) { claude in
            // Longer than the test waits: it ends because all processes have exited.
            let claude = claude.with { ($0.grace, $0.farewell) = (.seconds(50), .seconds(50)) }
            let (texts, more) = AsyncStream<Void>.makeStream()
            let (hold, letGo) = AsyncStream<Void>.makeStream()
            let running = Task {
                try await claude.turn(watching: { event in
                    guard case .chat(.text) = event else { return }
                    more.yield()
                    for await _ in hold { break }
                })
            }
            for await _ in texts { break }
            running.cancel()
            let deadline = ContinuousClock.now + .seconds(40)
            while try claude.seen().count < 2, ContinuousClock.now < deadline { await Task.yield() }
            let seen = try claude.seen().compactMap(\.int)
            #expect(seen == [0, 1])
            letGo.finish()
            #expect(try await running.value.isStopped)
        }
    }

    @Test("A turn that is stopped before its start starts no process")
    func stoppedBefore() async throws {
        try await ScriptedClaude.run("seen('started')") { claude in
            let running = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return try await claude.turn()
            }
            let (turn, seen) = (try await running.value, try claude.seen())
            #expect(turn.isStopped && seen.isEmpty)
        }
    }

    @Test("The command does not outlive this process, even if this process is killed")
    func killed() async throws {
        let script = """
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            seen(os.getpid())
            begin()
            while True:
                time.sleep(3600)
            """
        try await ScriptedClaude.run(script) { claude in
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = claude.folder as String] in
                let command = ClaudeCommand(
                    program: "\(folder)/claude", environment: ["PATH": "/usr/bin:/bin", "SEEN": "\(folder)/seen"],
                    clock: ContinuousClock(), now: { Timestamp(microseconds: 0) })
                _ = try await Caller.$current.withValue(.person(HeadlessInteraction())) {
                    try await command.run(
                        ChatRequest(model: "", messages: [Message(.user, "x")]), in: folder, sandbox: nil, resume: nil,
                        policy: ApprovalPolicy(), approve: nil, admit: { _, _ in }
                    ) { _ in kill(getpid(), SIGKILL) }
                }
            }
            let number = try #require(try claude.seen().first?.int)
            #expect(try await ends(number))
        }
    }

    /// A turn that is cancelled as soon as there is text.
    private func stopping(
        _ claude: ScriptedClaude, _ stopwatch: Stopwatch = Stopwatch()
    ) async throws -> ScriptedClaude.Turn {
        let (texts, more) = AsyncStream<Void>.makeStream()
        let running = Task {
            // A turn that fails has no text to wait for.
            defer { more.finish() }
            return try await claude.turn(watching: { event in
                if case .chat(.text) = event { more.yield() }
            })
        }
        for await _ in texts { break }
        stopwatch.start()
        running.cancel()
        defer { stopwatch.stop() }
        return try await running.value
    }
}

/// How long something took.
private final class Stopwatch: Sendable {
    private let span = Mutex((start: ContinuousClock.now, end: ContinuousClock.now))
    var time: Duration { span.withLock { $0.end - $0.start } }
    func start() { span.withLock { $0.start = ContinuousClock.now } }
    func stop() { span.withLock { $0.end = ContinuousClock.now } }
}
