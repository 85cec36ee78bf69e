import Capabilities
import CoreTesting
import JSON
import Synchronization
import Testing

@testable import TurnLoop

@Suite("Approval")
struct ApprovalTests {
    let fixture = TurnFixture()
    let tools = ScriptedTools("files", [tool("read"), tool("write", .writes)])

    private func outcome(
        _ calls: [Message.Part], policy: ApprovalPolicy = ApprovalPolicy(), approve: TurnLoop.Approve?
    ) async throws -> TurnOutcome {
        let model = ScriptedModel(.says(calls, finish: .calls), .says([.text("Done.")]))
        return try await fixture.run(fixture.loop([tools], policy: policy, approve: approve), model)
    }

    @Test("A call that writes needs approval, with everything the user needs to know")
    func asks() async throws {
        let asked = Mutex<[ApprovalRequest]>([])
        let outcome = try await outcome([call("a", "read"), call("b", "write", ["path": "x"])]) { request in
            asked.withLock { $0.append(request) }
            return ApprovalAnswer(isAllowed: true)
        }
        #expect(
            asked.withLock { $0 } == [
                ApprovalRequest(
                    call: ToolCall(id: "b", name: "write", input: ["path": "x"]), tool: "write", source: "files",
                    effect: .writes, summary: "Does write")
            ])
        #expect(outcome.results.map(\.isError) == [false, false])
        #expect(fixture.updates.last { $0.call.id == "a" }?.decision == ApprovalDecision(isAllowed: true, by: .effect))
        #expect(fixture.updates.last { $0.call.id == "b" }?.decision == ApprovalDecision(isAllowed: true, by: .person))
    }

    @Test("A call is a span with who has allowed it, and a question about it with what was decided")
    func spans() async throws {
        let sink = RecordingSpanSink()
        let calls = [call("a", "read", ["path": "hunter22"]), call("b", "write"), call("c", "write")]
        try await Tracer(sinks: [sink], now: Timestamp.now).span("work", of: "test") { _ in
            _ = try await outcome(calls) { ApprovalAnswer(isAllowed: $0.call.id == "b", reason: "hunter22") }
        }
        let names = ["execute_tool read", "approve write", "execute_tool write", "approve write", "work"]
        #expect(sink.spans.map(\.name) == names)
        #expect(
            sink.spans.map { $0.attributes["martlet.decision"] } == ["effect", "allowed", "person", "denied", nil])
        #expect(sink.spans.first?.attributes["martlet.tool.source"] == "files" && !"\(sink.spans)".contains("hunter22"))
    }

    @Test("A bundle approves the tools that it names, but not against a rule that denies")
    func bundle() async throws {
        func caller(_ tools: [String]) -> Caller {
            let grant = Grant(Grant.Layer(.bundle("b"), tools: tools))
            return Caller.person(HeadlessInteraction()).narrowed(by: grant, asking: HeadlessInteraction())
        }
        try await Caller.$current.withValue(caller(["files/*"])) {
            let allowed = try await outcome([call("a", "write")], approve: nil)
            #expect(allowed.results.map(\.isError) == [false] && !allowed.isUnapproved)
            let policy = ApprovalPolicy(rules: [ApprovalRule(.deny, tool: "write")])
            let denied = try await outcome([call("a", "write")], policy: policy, approve: nil)
            #expect(denied.results.map(\.isError) == [true])
        }
        let refused = try await Caller.$current.withValue(caller(["web/*"])) {
            try await outcome([call("a", "write")], approve: nil)
        }
        #expect(refused.results.map(\.isError) == [true] && refused.isUnapproved)
    }

    @Test(
        "Approval is requested again if the call's target has changed, but not endlessly",
        arguments: [0, 1, 3, 4, 9])
    func changing(times: Int) async throws {
        let source = ReachingTools(changing: times)
        let states = Mutex<[Int]>([])
        let model = ScriptedModel(.says([call("a", "write")], finish: .calls), .says([.text("Done.")]))
        let loop = fixture.loop([source]) { request in
            states.withLock { $0.append(request.reach.state) }
            return ApprovalAnswer(isAllowed: true)
        }
        let outcome = try await fixture.run(loop, model)
        // Each question is about the current target.
        #expect(states.withLock { $0 } == Array(0...min(times, 3)))
        #expect(source.runs == (times <= 3 ? 1 : 0))
        #expect(outcome.results.map(\.content) == [times <= 3 ? "did write" : CallMessages.restless])
        #expect(fixture.updates.last?.diff == "-old\n+new a\n")
    }

    @Test("No approval is requested for an impossible call, and the model gets the source's reason")
    func impossible() async throws {
        let model = ScriptedModel(.says([call("a", "broken")], finish: .calls), .says([.text("Done.")]))
        let loop = fixture.loop([ReachingTools()]) { request in
            Issue.record("somebody was asked about \(request.call)")
            return ApprovalAnswer(isAllowed: true)
        }
        let outcome = try await fixture.run(loop, model)
        #expect(outcome.results.map(\.content) == ["the server behind the tool is gone"])
        #expect(!outcome.isUnapproved)
    }

    @Test("A rule or mode of the user does not approve a bundle's call", arguments: [true, false])
    func bundleInMode(isBundle: Bool) async throws {
        let source = ReachingTools()
        let grant = isBundle ? Grant(Grant.Layer(.bundle("b"), effects: .destroys)) : .person
        let caller = Caller.person(HeadlessInteraction()).narrowed(by: grant, asking: HeadlessInteraction())
        for policy in [ApprovalPolicy(mode: .full), ApprovalPolicy(rules: [ApprovalRule(.allow)])] {
            let model = ScriptedModel(
                .says([call("a", "write"), call("b", "run")], finish: .calls), .says([.text("Done.")]))
            let outcome = try await Caller.$current.withValue(caller) {
                try await fixture.run(fixture.loop([source], policy: policy), model)
            }
            // The control: the user's own model does both.
            #expect(outcome.results.map(\.isError) == (isBundle ? [true, true] : [false, false]))
            #expect(outcome.isUnapproved == isBundle)
        }
    }

    @Test("A tool runs with the rights of a model, which may be less than those of its caller")
    func asModel() async throws {
        let source = ReachingTools()
        let model = ScriptedModel(.says([call("a", "write")], finish: .calls), .says([.text("Done.")]))
        let person = Caller.person(HeadlessInteraction())
        _ = try await Caller.$current.withValue(person) {
            try await fixture.run(fixture.loop([source], policy: ApprovalPolicy(mode: .full)), model)
        }
        #expect(source.grants == [Grant.person.narrowed(by: .model)])
        #expect(source.grants.first?.decide(.secret("openai")).isDenied == true)
    }

    @Test(
        "A tool that sends something needs approval in every mode",
        arguments: [ToolMode.readOnly, .workspace, .full])
    func sending(mode: ToolMode) {
        func request(_ sends: Bool) -> ApprovalRequest {
            ApprovalRequest(
                call: ToolCall(id: "a", name: "look", input: [:]), tool: "look", source: "web", effect: .reads,
                sends: sends, summary: "")
        }
        let policy = ApprovalPolicy(mode: mode)
        #expect(policy.decision(request(true)) == .ask)
        #expect(policy.decision(request(false)) == .allow)
        let allowing = ApprovalPolicy(rules: [ApprovalRule(.allow, tool: "look")], mode: mode)
        #expect(allowing.decision(request(true)) == .allow)
    }

    @Test("Calls count towards the limits of the bundle", arguments: [1, 2])
    func limited(calls: Int) async throws {
        let limits = GrantLimits(calls: calls, time: nil)
        let bundle = Grant(Grant.Layer(.bundle("b"), tools: ["*"], limits: limits))
        let caller = Caller.person(HeadlessInteraction()).narrowed(by: bundle, asking: HeadlessInteraction())
        let model = ScriptedModel(
            .says([call("a", "write")], finish: .calls), .says([call("b", "write")], finish: .calls),
            .says([.text("Done.")]))
        let outcome = try await Caller.$current.withValue(caller) {
            try await fixture.run(fixture.loop([ReachingTools()]), model)
        }
        #expect(outcome.results.map(\.isError) == [false, calls < 2])
        #expect(outcome.results.last?.content.contains("more than 1 actions") == (calls < 2))
    }

    @Test("A denial reaches the model with the user's reason, and the turn continues")
    func refuses() async throws {
        let outcome = try await outcome([call("a", "write")]) { _ in
            ApprovalAnswer(isAllowed: false, reason: "use the other file")
        }
        #expect(outcome.results.first?.content == "not done: the user does not allow this call: use the other file")
        #expect(outcome.endName == "answered")
        #expect(outcome.exit == .done)
        #expect(tools.calls.isEmpty)
        #expect(fixture.states(of: "a") == [.waiting, .denied])
    }

    @Test("A missing approver is a denial, and the exit code says so")
    func nobody() async throws {
        let outcome = try await outcome([call("a", "write"), call("b", "read")], approve: nil)
        #expect(outcome.results.map(\.isError) == [true, false])
        #expect(outcome.results.first?.content == CallMessages.nobody)
        #expect(outcome.isUnapproved)
        #expect(outcome.exit == .unanswered)
        #expect(fixture.updates.last { $0.call.id == "a" }?.decision?.by == .nobody)
    }

    @Test("A headless run that cannot answer is a denial too")
    func unanswered() async throws {
        let outcome = try await outcome([call("a", "write")]) { _ in
            throw InteractionError.unanswered(id: "chat.approve", prompt: "May it write?")
        }
        #expect(outcome.exit == .unanswered)
    }

    @Test("A declined question is a denial, and a failed question is unanswered")
    func declined() async throws {
        let declined = try await outcome([call("a", "write")]) { _ in throw InteractionError.declined(id: "x") }
        #expect((declined.isUnapproved, declined.results.map(\.isError)) == (false, [true]))
        let failed = try await outcome([call("a", "write")]) { _ in throw ToolFault() }
        #expect(failed.isUnapproved)
        #expect(failed.results.first?.content.contains("the server behind the tool is gone") == true)
        #expect(tools.calls.isEmpty)
    }

    @Test("A lasting approval is requested once and handed out to be stored", arguments: [true, false])
    func remembered(isAllowed: Bool) async throws {
        let asked = Mutex(0)
        let outcome = try await outcome([call("a", "write"), call("b", "write"), call("c", "write")]) { _ in
            asked.withLock { $0 += 1 }
            return ApprovalAnswer(isAllowed: isAllowed, scope: .conversation)
        }
        #expect(asked.withLock { $0 } == 1)
        #expect(outcome.results.map(\.isError) == Array(repeating: !isAllowed, count: 3))
        let rule = ApprovalRule(isAllowed ? .allow : .deny, tool: "write", source: "files", scope: .conversation)
        #expect(fixture.all.filter { if case .remember = $0 { true } else { false } } == [.remember(rule)])
        #expect(fixture.updates.last?.decision?.by == .rule(rule))
    }

    @Test("An approval for once is requested each time and not stored")
    func once() async throws {
        let asked = Mutex(0)
        _ = try await outcome([call("a", "write"), call("b", "write")]) { _ in
            asked.withLock { $0 += 1 }
            return ApprovalAnswer(isAllowed: true)
        }
        #expect(asked.withLock { $0 } == 2)
        #expect(!fixture.all.contains { if case .remember = $0 { true } else { false } })
    }

    @Test("A prepared answer that does not match allows nothing, is reported, and is a usage error")
    func unfit() async throws {
        let problem = InteractionError.unfit(id: "chat.approve", why: "must be one of Yes, No")
        let outcome = try await outcome([call("a", "write")]) { _ in throw problem }
        #expect(outcome.hasUnfitApproval && !outcome.isUnapproved && outcome.exit == .usage)
        #expect(outcome.results.map(\.isError) == [true])
        #expect(fixture.notices == [problem.message])
    }

    @Test("Approval is requested after the earlier calls have run")
    func order() async throws {
        let tools = tools
        let before = Mutex<[[String]]>([])
        _ = try await outcome([call("a", "write"), call("b", "write")]) { _ in
            before.withLock { $0.append(tools.calls.map(\.id)) }
            return ApprovalAnswer(isAllowed: true)
        }
        #expect(before.withLock { $0 } == [[], ["a"]])
    }

    @Test("No approval is requested if a rule denies")
    func denied() async throws {
        let rule = ApprovalRule(.deny, tool: "read")
        let outcome = try await outcome([call("a", "read")], policy: ApprovalPolicy(rules: [rule])) { _ in
            Issue.record("nobody should be asked")
            return ApprovalAnswer(isAllowed: true)
        }
        #expect(outcome.results.map(\.content) == [CallMessages.forbidden])
        #expect(fixture.updates.last?.decision == ApprovalDecision(isAllowed: false, by: .rule(rule)))
        #expect(outcome.exit == .done)
    }
}
