import Capabilities
import GatewayModels
import JSON
import Testing
import TurnLoop

@Suite("Turns of the claude command", .timeLimit(.minutes(5)))
struct ClaudeTalkTests {
    @Test("Text becomes one message, with session, usage and cost")
    func text() async throws {
        let script = """
            seen({"arguments": sys.argv[1:], "start": start, "message": message})
            begin()
            assistant(text("Hello there."))
            result(result="Hello there.")
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn(
                [Message(.system, "Be brief."), Message(.user, "Hello")], model: "opus")
            #expect(turn.isAnswered && turn.streamed == "Hello there." && turn.message.text == "Hello there.")
            #expect(turn.outcome.messages.count == 1 && turn.outcome.messages[0].isWhole)
            #expect(turn.outcome.answer?.start == ChatStart(id: "s-1", model: "claude-test"))
            #expect(turn.events.contains(.chat(.began(ChatStart(id: "s-1", model: "claude-test")))))
            let usage = Usage(
                inputTokens: 15, outputTokens: 4, cachedTokens: 3, cacheWriteTokens: 2,
                cost: Cost(nanodollars: 250_000_000))
            #expect(turn.outcome.usage == usage && turn.outcome.messages[0].usage == usage)
            let seen = try #require(try claude.seen().first)
            let arguments = (seen["arguments"]?.array ?? []).compactMap(\.string)
            #expect(arguments.contains("--verbose") && arguments.contains("--model=opus"))
            let sources = arguments.firstIndex(of: "--setting-sources").map { arguments[$0 + 1] }
            #expect(sources == "user" && arguments.contains("--strict-mcp-config"), "a project's hooks would run")
            #expect(!arguments.contains { $0.hasPrefix("--resume") || $0.contains("Be brief.") })
            #expect(seen["start"]?["request"]?["appendSystemPrompt"] == "Be brief.")
            #expect(seen["message"]?["message"]?["content"] == [["type": "text", "text": "Hello"]])
        }
    }

    @Test("Pieces are streamed as they arrive, and the whole block counts once")
    func pieces() async throws {
        let script = """
            begin()
            piece(type="content_block_start", index=0, content_block={"type": "thinking", "thinking": ""})
            piece(type="content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "Hm"})
            assistant({"type": "thinking", "thinking": "Hm.", "signature": "sig"})
            piece(type="content_block_stop", index=0)
            piece(type="content_block_start", index=1, content_block={"type": "text", "text": ""})
            piece(type="content_block_delta", index=1, delta={"type": "text_delta", "text": "One "})
            piece(type="content_block_delta", index=1, delta={"type": "text_delta", "text": "tw"})
            say(type="stream_event", event={"type": "content_block_delta", "delta": {"type": "text_delta", "text": "NO"}},
                parent_tool_use_id="t-9")
            assistant(text("One two three"))
            piece(type="content_block_delta", index=1, delta={"type": "text_delta", "text": "late"})
            piece(type="content_block_stop", index=1)
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn()
            #expect(turn.streamed == "One two three")
            #expect(turn.message.parts == [.reasoning(Reasoning("Hm.", signature: "sig")), .text("One two three")])
            #expect(turn.outcome.rounds == 1)
        }
    }

    @Test("The command's own calls come with their results and are already done")
    func tools() async throws {
        let script = """
            begin()
            assistant(text("I look."))
            assistant(tool("Bash", {"command": "ls"}))
            result_of("a.txt")
            assistant(tool("Read", {"file_path": "x"}, id="t-2"), id="m-2")
            result_of([{"type": "text", "text": "no such file"}], id="t-2", is_error=True)
            say(type="something_new", x=1)
            say(type="system", subtype="api_retry", attempt=2, max_retries=10)
            assistant(text("Done."), id="m-3")
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn()
            #expect(turn.isAnswered && turn.outcome.rounds == 3)
            #expect(turn.outcome.calls == 2 && turn.outcome.failedCalls == 1)
            #expect(turn.states == [.waiting, .done, .waiting, .failed])
            #expect(turn.message.calls.map(\.isDone) == [true, true])
            let results = turn.message.parts.compactMap { if case .result(let result) = $0 { result } else { nil } }
            #expect(results.map(\.content) == ["a.txt", "no such file"] && results.map(\.isError) == [false, true])
            #expect(turn.events.contains(.notice("claude's service does not respond; attempt 2 of 10")))
        }
    }

    @Test("A command that cannot ask about its calls gets no message")
    func old() async throws {
        let script = """
            answer_start("error", error="unsupported")
            seen({"next": hear()})
            """
        try await ScriptedClaude.run(script, answeringStart: false) { claude in
            let turn = try await claude.turn()
            #expect(turn.failure?.code == "gateway.claude-too-old")
            #expect(turn.failure?.message.contains("unsupported") == true)
            #expect(try claude.seen().allSatisfy { $0["next"] == .null })
        }
    }

    @Test("A resumed session gets only the new message; a new session gets the history")
    func resuming() async throws {
        let script = """
            seen({"arguments": sys.argv[1:], "content": message["message"]["content"]})
            begin(); assistant(text("x")); result()
            """
        let messages = [Message(.user, "One"), Message(.assistant, "Two"), Message(.user, "Three")]
        try await ScriptedClaude.run(script) { claude in
            _ = try await claude.turn(messages, resume: "s-0")
            _ = try await claude.turn(messages)
            let seen = try claude.seen()
            #expect(seen[0]["arguments"]?.array?.contains("--resume=s-0") == true)
            #expect(seen[0]["content"] == [["type": "text", "text": "Three"]])
            let history = try #require(seen[1]["content"]?[0]?["text"]?.string)
            #expect(history.contains("User: One\n\nAssistant: Two") && seen[1]["content"]?[1]?["text"] == "Three")
        }
    }

    @Test("A resumed session counts only the cost of its last turn")
    func cost() async throws {
        let script = """
            begin("claude-opus-5")
            assistant(text("x"))
            since = {"claude-opus-5": {"costUSD": 0.05}, "claude-haiku-4-5": {"costUSD": 0.01}}
            if message["message"]["content"][0]["text"] == "told":
                result(total_cost_usd=0.25, model_usage_since_last_result=since)
            else:
                result(total_cost_usd=0.25)
            """
        try await ScriptedClaude.run(script) { claude in
            func cost(_ text: String, resume: String?) async throws -> Int? {
                try await claude.turn([Message(.user, text)], resume: resume).outcome.usage.cost?.nanodollars
            }
            #expect(try await cost("told", resume: "s-0") == 60_000_000)
            #expect(try await cost("untold", resume: nil) == 250_000_000)
            // List prices: five dollars per million tokens read, twenty-five per million written; cached ones differ.
            let listed = try #require(try await cost("untold", resume: "s-0"))
            #expect((100_000..<1_000_000).contains(listed))
        }
    }

    @Test("The command sees only the variables that it was given")
    func environment() async throws {
        let script = "seen(sorted(os.environ)); begin(); assistant(text('x')); result()"
        try await ScriptedClaude.run(script, variables: ["ANTHROPIC_API_KEY": "k"]) { claude in
            _ = try await claude.turn()
            var names = (try claude.seen().first?.array ?? []).compactMap(\.string)
            names.removeAll { ["LC_CTYPE", "PWD", "SHLVL", "_"].contains($0) }
            #expect(
                names == [
                    "ANTHROPIC_API_KEY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER",
                    "DISABLE_TELEMETRY", "PATH", "SEEN",
                ])
            // In a trace also its ids, and nothing else of it.
            let trace = TraceContext(
                traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: "vendor=x")
            _ = try await TraceContext.$current.withValue(trace) { try await claude.turn() }
            let traced = (try claude.seen().last?.array ?? []).compactMap(\.string)
            #expect(traced.filter { $0.hasPrefix("TRACE") } == ["TRACEPARENT"])
        }
    }

    @Test("The command is found in the PATH and gets no keys by default")
    func finding() async throws {
        try await ScriptedClaude.run("seen(sorted(os.environ)); begin(); assistant(text('x')); result()") { claude in
            let variables = [
                "PATH": "relative:/nowhere:\(claude.folder)", "OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k",
                "HOME": "/tmp",
            ]
            let adding = ["SEEN": "\(claude.folder)/seen"]
            let now: @Sendable () -> Timestamp = { Timestamp(microseconds: 0) }
            let found = try #require(
                ClaudeCommand.find(in: variables, adding: adding, clock: ContinuousClock(), now: now))
            #expect(found.program == "\(claude.folder)/claude")
            _ = try await found.run(
                ChatRequest(model: "", messages: [Message(.user, "x")]), in: claude.folder, sandbox: nil,
                resume: nil,
                policy: ApprovalPolicy(), approve: nil, admit: { _, _ in }
            ) { _ in }
            let names = (try claude.seen().first?.array ?? []).compactMap(\.string)
            #expect(names.contains("HOME") && !names.contains { $0.hasSuffix("KEY") })
            #expect(ClaudeCommand.find(in: ["PATH": "/nowhere"], clock: ContinuousClock(), now: now) == nil)
        }
    }
}
