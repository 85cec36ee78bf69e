import Capabilities
import CoreTesting
import JSON
import Synchronization
import Testing

@testable import TurnLoop

@Suite("Calls in the audit log")
struct CallAuditTests {
    let fixture = TurnFixture()
    let log = RecordingAuditLog()

    private func outcome(
        _ calls: [Message.Part], _ tools: ScriptedTools, rules: [ApprovalRule] = [ApprovalRule(.allow)],
        _ change: (inout CallAudit) -> Void = { _ in }
    ) async throws -> TurnOutcome {
        var loop = fixture.loop([tools], policy: ApprovalPolicy(rules: rules))
        var audit = CallAudit(log)
        (audit.project, audit.session, audit.client) = ("p", "s", "c")
        change(&audit)
        loop.audit = audit
        return try await fixture.run(loop, ScriptedModel(.says(calls, finish: .calls), .says([.text("Done.")])))
    }

    /// What the log had when a tool ran.
    private final class Seen: Sendable {
        let entries = Mutex<[AuditEntry]>([])
    }

    struct Full: Failure {
        let code = "storage.full"
        let message = "no space left for audit.db"
    }

    @Test("A call that writes is recorded before it runs, and completed when it has ended", arguments: [false, true])
    func before(sends: Bool) async throws {
        let seen = Seen()
        var change = tool("change", sends ? .reads : .writes) { [log] _ in
            seen.entries.withLock { $0 = log.recorded }
            return ToolResult(call: "", content: "ok", exitCode: 3)
        }
        change.0.sends = sends
        let tools = ScriptedTools("files", [change])
        let outcome = try await outcome([call("a", "change", ["path": "x"])], tools)
        #expect(outcome.results.map(\.content) == ["ok"])
        let running = try #require(seen.entries.withLock { $0 }.first)
        #expect(running.outcome == nil && running.source == "files" && running.subject == "change")
        #expect(running.actor == "model" && running.action == "tool.call" && running.decision != nil)
        #expect(running.project == "p" && running.session == "s" && running.detail["state"] == nil)
        #expect(running.detail["input"] == ["path": "x"] && running.detail["client"] == "c")
        #expect(running.rule.map { $0.contains("allow") } == true)
        let ended = try #require(log.recorded.first)
        #expect(log.recorded.count == 1 && ended.outcome == "done")
        #expect(ended.detail["exit_code"] == 3 && ended.detail["duration_ms"] != nil && ended.detail["state"] == "done")
    }

    @Test("A call that changes or sends something does not run without its record", arguments: [false, true])
    func denied(sends: Bool) async throws {
        log.fail(with: Full())
        var write = tool("change", sends ? .reads : .writes)
        write.0.sends = sends
        let tools = ScriptedTools("files", [write, tool("read")])
        let outcome = try await outcome([call("a", "change"), call("b", "read"), call("c", "change")], tools)
        #expect(tools.calls.map(\.id) == ["b"])
        #expect(outcome.results.map(\.isError) == [true, false, true])
        #expect(outcome.results[0].content.contains("could not be recorded in the audit log"))
        #expect(outcome.results[0].content.contains("no space left for audit.db"))
        #expect(fixture.states(of: "a").last == .denied)
        #expect(fixture.notices.count == 1, "the user is told once: \(fixture.notices)")
        // The control: with room it runs.
        log.fail(with: nil)
        _ = try await self.outcome([call("a", "change")], tools)
        #expect(tools.calls.map(\.id) == ["b", "a"])
    }

    @Test("Calls that only read go on without a record, with one notice")
    func reads() async throws {
        log.fail(with: Full())
        let tools = ScriptedTools("files", [tool("read")])
        let outcome = try await outcome([call("a", "read"), call("b", "read")], tools)
        #expect(outcome.results.map(\.isError) == [false, false])
        #expect(fixture.notices == ["not everything is in the audit log: no space left for audit.db"])
    }

    @Test("Calls that only read are recorded if that is wanted, and their input too", arguments: [false, true])
    func wanted(isWanted: Bool) async throws {
        let tools = ScriptedTools("files", [tool("read"), tool("change", .writes)])
        _ = try await outcome([call("a", "read", ["path": "x"]), call("b", "change", ["path": "x"])], tools) {
            $0.hasReads = isWanted
            $0.hasInput = isWanted
            $0.conversation = { "talk" }
        }
        #expect(log.recorded.map(\.subject) == (isWanted ? ["read", "change"] : ["change"]))
        #expect(log.recorded.allSatisfy { ($0.detail["input"] != nil) == isWanted && $0.conversation == "talk" })
        #expect(log.recorded.allSatisfy { $0.outcome == "done" })
    }

    @Test("Denied, unknown and failing calls are recorded with their end")
    func ends() async throws {
        let tools = ScriptedTools(
            "files",
            [tool("change", .writes), tool("fails", .writes) { _ in throw ToolFault() }])
        _ = try await outcome(
            [call("a", "change"), call("b", "fails"), call("c", "unknown")], tools,
            rules: [ApprovalRule(.deny, tool: "change"), ApprovalRule(.allow, tool: "fails")])
        #expect(log.recorded.map(\.subject).sorted { ($0 ?? "") < ($1 ?? "") } == ["change", "fails", "unknown"])
        func entry(_ subject: String) -> AuditEntry? { log.recorded.first { $0.subject == subject } }
        #expect(entry("change")?.outcome == "denied" && entry("change")?.decision == "denied by a rule of the always")
        #expect(entry("fails")?.outcome == "failed" && entry("fails")?.detail["effect"] == "writes")
        #expect(entry("unknown")?.outcome == "failed" && entry("unknown")?.source == nil)
    }

    @Test("How a call ended is recorded together with the next call, and the last one before the model is asked")
    func together() async throws {
        let seen = Mutex<[[String?]]>([])
        let change = tool("change", .writes) { [log] _ in
            seen.withLock { $0.append(log.recorded.map(\.outcome)) }
            return ToolResult(call: "", content: "ok")
        }
        let calls = ["a", "b", "c"].map { call($0, "change") }
        _ = try await outcome(calls, ScriptedTools("files", [change]))
        #expect(seen.withLock { $0 } == [[nil], ["done", nil], ["done", "done", nil]])
        #expect(log.recorded.map(\.outcome) == ["done", "done", "done"])
        #expect(log.transactions == 4)
    }

    @Test("How a call ended is recorded at once if something else than a call of the same source may follow")
    func apart() async throws {
        let files = ScriptedTools(
            "files", [tool("change", .writes), tool("fails", .writes) { _ in throw ToolFault() }])
        let other = ScriptedTools("other", [tool("send", .writes)])
        let asked = Mutex<[[String?]]>([])
        var loop = fixture.loop(
            [files, other], policy: ApprovalPolicy(rules: [ApprovalRule(.allow, source: "files")]),
            approve: { [log] _ in
                asked.withLock { $0.append(log.recorded.map(\.outcome)) }
                return ApprovalAnswer(isAllowed: true)
            })
        loop.audit = CallAudit(log)
        let calls = [call("a", "fails"), call("b", "change"), call("c", "send")]
        _ = try await fixture.run(loop, ScriptedModel(.says(calls, finish: .calls), .says([.text("Done.")])))
        // Each call and each end was written alone.
        #expect(asked.withLock { $0 } == [["failed", "done"]])
        #expect(log.transactions == 6)
    }

    @Test("Before a person is asked about the next call, it is recorded how the last one ended")
    func beforeQuestions() async throws {
        let asked = Mutex<[[String?]]>([])
        let tools = ScriptedTools("files", [tool("change", .writes), tool("remove", .writes)])
        var loop = fixture.loop(
            [tools], policy: ApprovalPolicy(rules: [ApprovalRule(.allow, tool: "change")]),
            approve: { [log] _ in
                asked.withLock { $0.append(log.recorded.map(\.outcome)) }
                return ApprovalAnswer(isAllowed: true)
            })
        loop.audit = CallAudit(log)
        let calls = [call("a", "change"), call("b", "remove")]
        _ = try await fixture.run(loop, ScriptedModel(.says(calls, finish: .calls), .says([.text("Done.")])))
        #expect(asked.withLock { $0 } == [["done"]])
        #expect(log.recorded.map(\.outcome) == ["done", "done"])
    }

    @Test("How a call ended is recorded although the turn breaks off before the next one")
    func brokenOff() async throws {
        struct Gone: Error {}
        var loop = fixture.loop(
            [ScriptedTools("files", [tool("change", .writes)])], policy: ApprovalPolicy(rules: [ApprovalRule(.allow)]))
        loop.audit = CallAudit(log)
        let model = ScriptedModel(.says([call("a", "change"), call("b", "change")], finish: .calls))
        await #expect(throws: Gone.self) {
            let request = ChatRequest(model: "scripted", messages: [Message(.user, "Do it.")])
            _ = try await loop.run(request, asking: { try await model.answer($0, $1) }) { events in
                for case .call(let update) in events where update.state == .done { throw Gone() }
            }
        }
        #expect(log.recorded.map(\.outcome) == ["done"])
    }

    @Test("A log that fails between two calls denies the second, and is told once")
    func failsBetween() async throws {
        let change = tool("change", .writes) { [log] _ in
            log.fail(with: Full())
            return ToolResult(call: "", content: "ok")
        }
        let tools = ScriptedTools("files", [change])
        let outcome = try await outcome([call("a", "change"), call("b", "change")], tools)
        #expect(tools.calls.map(\.id) == ["a"])
        #expect(outcome.results.map(\.isError) == [false, true])
        #expect(log.recorded.map(\.outcome) == [nil])
        #expect(fixture.notices == ["calls that change or send something are denied: no space left for audit.db"])
    }

    @Test("An end that the log does not take is told, and denies no other call")
    func refusedEnd() async throws {
        let change = tool("change", .writes) { [log] call in
            if call.id == "a" { try await log.complete(1, AuditCompletion(outcome: "elsewhere")) }
            return ToolResult(call: "", content: "ok")
        }
        let tools = ScriptedTools("files", [change])
        let outcome = try await outcome([call("a", "change"), call("b", "change")], tools)
        #expect(outcome.results.map(\.isError) == [false, false])
        #expect(log.recorded.first?.outcome == "elsewhere" && log.recorded.count == 2)
        #expect(fixture.notices == ["not everything is in the audit log: the entry has ended before"])
    }

    @Test("A call that is repeated by hand is recorded in the same way")
    func again() async throws {
        let tools = ScriptedTools("files", [tool("change", .writes)])
        var loop = fixture.loop([tools], policy: ApprovalPolicy(rules: [ApprovalRule(.allow)]))
        loop.audit = CallAudit(log)
        _ = try await loop.run(again: ToolCall(id: "a", name: "change", input: [:])) { _ in }
        #expect(log.recorded.map(\.outcome) == ["done"])
        log.fail(with: Full())
        let result = try await loop.run(again: ToolCall(id: "a", name: "change", input: [:])) { _ in }
        #expect(result.isError && tools.calls.count == 1)
    }
}
