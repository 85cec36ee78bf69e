import Capabilities
import CoreTesting
import FileKit
import GatewayModels
import GatewayStore
import JSON
import OfflinePlanner
import ProcessKit
import Testing
import TurnLoop

@testable import GatewayTurns

/// Tests with a fake `claude`. They run serialized, since they start processes.
@Suite("The claude command in the gateway", .serialized, .timeLimit(.minutes(5)))
struct ClaudeTests {
    /// Asks for permission to run a command, and prints the result and the session to resume. It refuses an unknown
    /// session, like the real command.
    private static let script = #"""
        #!/usr/bin/python3
        import json, sys
        def say(**frame):
            print(json.dumps(dict(frame, session_id="s-1")), flush=True)
        start = json.loads(sys.stdin.readline())
        say(type="control_response", response={"subtype": "success", "request_id": start["request_id"]})
        json.loads(sys.stdin.readline())
        resumed = [word for word in sys.argv if word.startswith("--resume=")]
        if "--resume=s-1" not in resumed and resumed:
            say(type="result", subtype="error_during_execution", is_error=True, errors=["No conversation found"])
            sys.exit(1)
        say(type="system", subtype="init", model="claude-test", tools=["Bash"])
        say(type="assistant", parent_tool_use_id=None, message={"id": "m-1", "role": "assistant", "content": [
            {"type": "text", "text": "I look."}]})
        say(type="assistant", parent_tool_use_id=None, message={"id": "m-1", "role": "assistant", "content": [
            {"type": "tool_use", "id": "t-1", "name": "Bash", "input": {"command": "date"}}]})
        say(type="control_request", request_id="r-1", request={
            "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "date"}, "tool_use_id": "t-1"})
        answer = json.loads(sys.stdin.readline())["response"]["response"]["behavior"]
        say(type="user", parent_tool_use_id=None, message={"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t-1", "content": answer, "is_error": answer != "allow"}]})
        say(type="assistant", parent_tool_use_id=None, message={"id": "m-2", "role": "assistant", "content": [
            {"type": "text", "text": answer + " " + " ".join(resumed)}]})
        say(type="result", subtype="success", is_error=False, total_cost_usd=0.25, session_id="s-1",
            usage={"input_tokens": 10, "output_tokens": 4})
        """#

    /// Never stops calling tools; each round takes 8 tokens in and 4 out.
    private static let endless = #"""
        #!/usr/bin/python3
        import json, sys
        def say(**frame):
            print(json.dumps(dict(frame, session_id="s-1")), flush=True)
        start = json.loads(sys.stdin.readline())
        say(type="control_response", response={"subtype": "success", "request_id": start["request_id"]})
        sys.stdin.readline()
        say(type="system", subtype="init", model="claude-opus-5", tools=["Bash"])
        number = 0
        while True:
            number += 1
            say(type="assistant", parent_tool_use_id=None, message={
                "id": "m-%d" % number, "role": "assistant", "usage": {"input_tokens": 8, "output_tokens": 4},
                "content": [{"type": "tool_use", "id": "t-%d" % number, "name": "Bash", "input": {}}]})
            say(type="user", parent_tool_use_id=None, message={"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t-%d" % number, "content": "x"}]})
        """#

    private func run(
        _ rules: [ApprovalRule] = [], script: String = script, budget: ProjectBudget = ProjectBudget(),
        settings: TurnSettings = TurnSettings(), clock: any Clock<Duration> = ContinuousClock(),
        _ body: (Workshop, Turns) async throws -> Void
    ) async throws {
        try await Workshop.run(rules: rules, budget: budget) { workshop in
            let program = "\(workshop.folder)/claude"
            try Files.writeAtomically(Array(script.utf8), to: program, mode: 0o755)
            let days = Days()
            let command = ClaudeCommand(
                program: program, environment: CommandEnvironment(["PATH": "/usr/bin:/bin"]),
                clock: clock, now: { days.next })
            let turns = Turns(
                store: workshop.store, providers: { [] }, builtIn: PlannerModel(), settings: settings, claude: command,
                clock: clock, now: { days.next })
            try await body(workshop, turns)
            await turns.close()
        }
    }

    @Test("The command's calls need approval, and its session continues with the gateway's")
    func asks() async throws {
        try await run { workshop, turns in
            let heard = Heard()
            var input = workshop.input("Go", model: "claude/default")
            let first = try await turns.run(input) { events in
                heard.receive(events)
                for ticket in Heard(events).tickets {
                    try turns.answer(ticket.id, of: ticket.session, ApprovalAnswer(isAllowed: true))
                }
            }
            #expect(first.outcome.end.word == "answered")
            #expect(first.text.hasPrefix("I look.\n\nallow"))
            #expect(first.place.name == "claude/claude-test")
            // A stream names the model too, before the first word.
            #expect(heard.words.prefix(2) == ["began", "answers claude/claude-test"])
            #expect(heard.tickets.map(\.call.name) == ["Bash"])
            #expect(heard.words.filter { $0.contains("call") } == ["done call Bash"])
            #expect(heard.words.filter { $0.hasPrefix("result") } == ["result ok"])
            #expect(first.outcome.usage.cost == Cost(nanodollars: 250_000_000))
            input = workshop.input("And again", session: first.place.session, canAsk: false)
            let second = try await turns.run(input) { _ in }
            #expect(second.text == "I look.\n\ndeny --resume=s-1")
            #expect(second.outcome.isUnapproved)
            let session = try #require(first.place.session)
            let decisions = try await workshop.audit(session).filter { $0.action == "tool.call" }.map(\.decision)
            #expect(decisions == ["denied because nobody answered", "allowed by the client"])
        }
    }

    @Test("An approval request waits as long as the settings say, not as long as the command would")
    func patience() async throws {
        var settings = TurnSettings()
        settings.approvalTime = .seconds(600)
        let clock = TestClock()
        try await run(settings: settings, clock: clock) { workshop, turns in
            let report = try await turns.run(workshop.input("Go", model: "claude/default")) { events in
                for ticket in Heard(events).tickets {
                    // The timeouts of the turn, the approval request and the command.
                    await clock.waitForSleepers(3)
                    clock.advance(by: .seconds(400))
                    try turns.answer(ticket.id, of: ticket.session, ApprovalAnswer(isAllowed: true))
                }
            }
            #expect(report.text.contains("allow"))
        }
    }

    @Test("The project's rules decide about the command's calls without an approval request")
    func rules() async throws {
        try await run([ApprovalRule(.deny, tool: "Bash", source: "claude", scope: .project)]) { workshop, turns in
            let heard = Heard()
            let report = try await turns.run(workshop.input("Go", model: "claude/default")) { heard.receive($0) }
            #expect(report.text.contains("deny"))
            #expect(heard.tickets == [])
            let decisions = try await workshop.audit(report.place.session).filter { $0.action == "tool.call" }
            #expect(decisions.map(\.decision) == ["denied by a rule of the project"])
        }
    }

    @Test("The limits of a turn apply to each of its rounds", arguments: 0..<4)
    func limits(which: Int) async throws {
        var settings = TurnSettings()
        var budget = ProjectBudget()
        let (code, rounds): (String, Int)
        switch which {
        case 0: (settings.rounds, code, rounds) = (3, "gateway.round-limit", 3)
        case 1: (settings.outputTokens, code, rounds) = (6, "gateway.output-limit", 2)
        // A round costs 140,000 billionths of a dollar.
        case 2: (settings.cost, code, rounds) = (Cost(nanodollars: 400_000), "gateway.cost-limit", 3)
        default: (budget.project.tokens, code, rounds) = (40, "gateway.budget-exceeded", 4)
        }
        try await run(script: Self.endless, budget: budget, settings: settings) { workshop, turns in
            let report = try await turns.run(workshop.input("Go", model: "claude/default")) { _ in }
            #expect(report.failure?.code == code)
            #expect(report.outcome.rounds == rounds && report.outcome.usage.outputTokens == 4 * rounds)
            // The usage counts, although there is no whole answer.
            let id = try #require(report.place.session)
            #expect(try await workshop.store.session(id)?.usage.tokens == 12 * rounds)
        }
    }

    @Test("A session that the command has forgotten is started again")
    func forgotten() async throws {
        try await run { workshop, turns in
            let session = try await workshop.store.createSession(NewSession(project: workshop.project.id)).id
            let lease = try await workshop.store.beginTurn(session: session)
            try await workshop.store.append(TurnMessage(Message(.user, "Hello")), lease: lease)
            let answer = TurnMessage(Message(.assistant, "Hi"), start: ChatStart(id: "forgotten"))
            try await workshop.store.append(answer, provider: "claude", model: "default", lease: lease)
            try await workshop.store.endTurn(lease)
            var input = workshop.input("Go", session: session, canAsk: false)
            input.chat.model = "claude/default"
            let report = try await turns.run(input) { _ in }
            #expect(report.outcome.end.word == "answered")
            #expect(report.text == "I look.\n\ndeny ")
        }
    }

    @Test("The command works only in a project's folder")
    func needsProject() async throws {
        try await run { _, turns in
            for isAgent in [true, false] {
                let chat = ChatRequest(model: "claude/opus", messages: [Message(.user, "Go")])
                let kind = try await refusal { _ = try await turns.run(TurnInput(chat, isAgent: isAgent)) { _ in } }
                #expect(kind == .invalid)
            }
            #expect(await turns.models().map(\.provider).suffix(2) == ["claude", "martlet"])
        }
    }
}
