import Capabilities
import CoreTesting
import GatewayModels
import JSON
import Synchronization
import Testing
import TurnLoop

@Suite("Permissions of the claude command", .timeLimit(.minutes(5)))
struct ClaudePermissionTests {
    /// Asks for one call, and runs it if allowed.
    private static let asking = """
        begin()
        assistant(tool("Bash", {"command": "rm x"}))
        ask("Bash", {"command": "rm x"}, description="Removes x", permission_suggestions=[
            {"type": "addRules", "destination": "session"}, {"type": "addRules", "destination": "userSettings"}])
        answer = hear()
        seen(answer)
        allowed = answer["response"]["response"]["behavior"] == "allow"
        result_of("removed" if allowed else answer["response"]["response"]["message"], is_error=not allowed)
        assistant(text("Done."), id="m-2")
        result()
        """

    @Test("A call runs after the user allows it")
    func allowing() async throws {
        try await ScriptedClaude.run(Self.asking) { claude in
            let asked = Mutex<[ApprovalRequest]>([])
            let turn = try await claude.turn(approve: { request in
                asked.withLock { $0.append(request) }
                return ApprovalAnswer(isAllowed: true)
            })
            #expect(turn.isAnswered && turn.states == [.waiting, .waiting, .approved, .done])
            let call = ToolCall(id: "t-1", name: "Bash", input: ["command": "rm x"], isDone: true)
            let request = ApprovalRequest(
                call: call, tool: "Bash", source: "claude", effect: .writes, summary: "Removes x",
                reach: ToolReach(
                    command: ToolReach.Command(
                        "rm x", isSandboxed: false, caution: "claude runs it without a sandbox")))
            #expect(asked.withLock { $0 } == [request])
            let response = try claude.seen().first?["response"]
            #expect(response?["request_id"] == "r-1" && response?["subtype"] == "success")
            #expect(response?["response"] == ["behavior": "allow", "updatedInput": ["command": "rm x"]])
        }
    }

    @Test("The command is told to ask about every call, even those it would run without asking")
    func hooks() async throws {
        let script = """
            seen(start["request"]["hooks"])
            begin()
            say(type="control_request", request_id="h-1", request={
                "subtype": "hook_callback", "callback_id": "martlet", "tool_use_id": "t-1",
                "input": {"tool_name": "Read", "tool_input": {"file_path": "secrets/key"}}})
            seen(hear()["response"])
            ask("Read", {"file_path": "secrets/key"})
            seen(hear()["response"]["response"]["behavior"])
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let deny = ApprovalRule(.deny, tool: "fs.read", arguments: ["/path": "secrets/**"])
            let places = PathGlob.Places(folder: AbsolutePath(claude.folder), home: nil)
            _ = try await claude.turn(policy: ApprovalPolicy(rules: [deny], in: places))
            let seen = try claude.seen()
            #expect(seen[0]["PreToolUse"] == [["hookCallbackIds": ["martlet"]]])
            #expect(seen[1]["request_id"] == "h-1")
            #expect(seen[1]["response"]?["hookSpecificOutput"]?["permissionDecision"] == "ask")
            #expect(seen[2] == "deny")
        }
    }

    @Test("A rule or the effect decides before the user is asked, and the decision says so")
    func rules() async throws {
        let script = """
            begin()
            ask("Bash", {"command": "rm x"})
            seen(hear()["response"]["response"]["behavior"])
            ask("WebFetch", {"url": "https://a.example"}, id="t-2", request="r-2")
            seen(hear()["response"]["response"]["behavior"])
            ask("Read", {"file_path": "x"}, id="t-3", request="r-3")
            seen(hear()["response"]["response"]["behavior"])
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let deny = ApprovalRule(.deny, tool: "Bash", arguments: ["/command": "rm *"])
            let allow = ApprovalRule(.allow, tool: "WebFetch", source: "claude", scope: .project)
            let turn = try await claude.turn(
                policy: ApprovalPolicy(rules: [deny, allow]),
                approve: { request in
                    Issue.record("somebody was asked about \(request.call)")
                    return ApprovalAnswer(isAllowed: false)
                })
            #expect(turn.isAnswered && !turn.outcome.isUnapproved)
            #expect(try claude.seen() == ["deny", "allow", "allow"])
            let decisions = turn.events.compactMap {
                if case .call(let update) = $0, update.result == nil { update.decision } else { nil }
            }
            #expect(
                decisions == [
                    ApprovalDecision(isAllowed: false, by: .rule(deny)),
                    ApprovalDecision(isAllowed: true, by: .rule(allow)),
                    ApprovalDecision(isAllowed: true, by: .effect),
                ])
        }
    }

    @Test("Reading outside the folder and fetching need approval; reading inside does not")
    func elsewhere() async throws {
        let script = """
            import os
            os.symlink("/etc", "way-out")
            begin()
            calls = [("Read", {"file_path": "x"}), ("Grep", {"pattern": "/etc"}), ("Glob", {"pattern": "**/*.swift"}),
                     ("Read", {"file_path": os.getcwd() + "/a/b"}), ("TodoWrite", {}), ("LS", {"path": "."}),
                     ("Read", {"file_path": "/etc/passwd"}), ("Read", {"file_path": "../x"}), ("Read", {"file_path": "~/x"}),
                     ("Read", {"file_path": "way-out/passwd"}), ("Read", {"file_path": 3}), ("Glob", {"pattern": "/etc/*"}),
                     ("Grep", {"pattern": "x", "path": "/"}), ("WebFetch", {"url": "http://127.0.0.1/"}),
                     ("WebSearch", {"query": "x"}), ("Unheard", {})]
            for number, (name, input) in enumerate(calls):
                ask(name, input, id=f"t-{number}", request=f"r-{number}")
                seen(hear()["response"]["response"]["behavior"])
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn(approve: { _ in ApprovalAnswer(isAllowed: false) })
            #expect(turn.isAnswered)
            let seen = try claude.seen().compactMap(\.string)
            #expect(seen == Array(repeating: "allow", count: 6) + Array(repeating: "deny", count: 10))
        }
    }

    @Test("A lasting approval is remembered for the turn by Martlet and not by the command")
    func lasting() async throws {
        let script =
            Self.asking.replacing("result()", with: "").replacing("\"Bash\"", with: "\"Deploy\"") + """

                ask("Deploy", {"command": "rm y"}, id="t-2", request="r-2")
                seen(hear())
                result()
                """
        try await ScriptedClaude.run(script) { claude in
            let count = Mutex(0)
            let turn = try await claude.turn(approve: { _ in
                count.withLock { $0 += 1 }
                return ApprovalAnswer(isAllowed: true, scope: .conversation)
            })
            #expect(turn.isAnswered && count.withLock { $0 } == 1)
            let rule = ApprovalRule(.allow, tool: "Deploy", source: "claude", scope: .conversation)
            #expect(turn.events.contains(.remember(rule)))
            let seen = try claude.seen()
            #expect(seen[0]["response"]?["response"]?["updatedPermissions"] == nil)
            #expect(seen[1]["response"]?["response"]?["behavior"] == "allow")
        }
    }

    @Test("Its commands without a sandbox each need approval, whatever the rules allow")
    func commands() async throws {
        let script =
            Self.asking.replacing("result()", with: "") + """

                ask("Bash", {"command": "rm x"}, id="t-2", request="r-2")
                seen(hear())
                result()
                """
        try await ScriptedClaude.run(script) { claude in
            let rules = [
                ApprovalRule(.allow, tool: "Bash"), ApprovalRule(.allow, arguments: ["/command": "rm *"]),
            ]
            let count = Mutex(0)
            let turn = try await claude.turn(
                policy: ApprovalPolicy(rules: rules),
                approve: { _ in
                    count.withLock { $0 += 1 }
                    return ApprovalAnswer(isAllowed: true, scope: .conversation)
                })
            #expect(turn.isAnswered && count.withLock { $0 } == 2)
            #expect(!turn.events.contains { if case .remember = $0 { true } else { false } })
        }
    }

    @Test("A path denied to Martlet's tools is denied to its tools, and calls that could reach it need approval")
    func denied() async throws {
        let script = """
            begin()
            for number, (tool, given) in enumerate([
                ("Read", {"file_path": "secrets/k"}), ("Edit", {"file_path": "./x/../secrets/k"}),
                ("Read", {"file_path": "~/.ssh/id"}), ("Read", {"file_path": "other"}), ("Grep", {"pattern": "x"}),
            ]):
                ask(tool, given, id="t-%d" % number, request="r-%d" % number)
                seen(hear()["response"]["response"]["behavior"])
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let rules = ["secrets/**", "~/.ssh/**"].map {
                ApprovalRule(.deny, tool: "fs.read", arguments: ["/path": $0])
            }
            let places = PathGlob.Places(folder: AbsolutePath(claude.folder), home: AbsolutePath("/home/ada"))
            let asked = Mutex<[String]>([])
            _ = try await claude.turn(
                policy: ApprovalPolicy(rules: rules + [ApprovalRule(.allow, source: "claude")], in: places),
                approve: { request in
                    asked.withLock { $0.append(request.tool) }
                    return ApprovalAnswer(isAllowed: true)
                })
            #expect(try claude.seen() == ["deny", "deny", "deny", "allow", "allow"])
            #expect(asked.withLock { $0 } == ["Grep"])
        }
    }

    @Test("A denial reaches the command with its reason, and the turn continues")
    func denying() async throws {
        try await ScriptedClaude.run(Self.asking) { claude in
            let turn = try await claude.turn(approve: { _ in ApprovalAnswer(isAllowed: false, reason: "too dangerous") }
            )
            #expect(turn.isAnswered && turn.message.text == "Done." && !turn.outcome.isUnapproved)
            #expect(turn.states == [.waiting, .waiting, .denied, .denied])
            #expect(
                try claude.seen().first?["response"]?["response"]?["message"]
                    == "the user does not allow this call: too dangerous")
        }
    }

    @Test("Without a user a call is denied, and the outcome says so")
    func nobody() async throws {
        try await ScriptedClaude.run(Self.asking) { claude in
            let alone = try await claude.turn()
            #expect(alone.outcome.isUnapproved && alone.outcome.exit == .unanswered)
            let headless = try await claude.turn(approve: { _ in
                throw InteractionError.unanswered(id: "x", prompt: "x")
            })
            #expect(headless.outcome.isUnapproved && headless.states.last == .denied)
        }
    }

    @Test("An approval request expires after its limit")
    func expiring() async throws {
        let clock = TestClock()
        try await ScriptedClaude.run(Self.asking, clock: clock) { claude in
            let running = Task {
                try await claude.turn(approve: { _ in
                    // Like a user who has left.
                    try await ContinuousClock().sleep(for: .seconds(3600))
                    return ApprovalAnswer(isAllowed: true)
                })
            }
            await clock.waitForSleepers()
            clock.advance(by: .seconds(301))
            // The process has two seconds to exit, on the same clock.
            let turn = try await running.value
            #expect(turn.isAnswered && turn.outcome.isUnapproved)
        }
    }

    @Test("A withdrawn approval request is not answered")
    func withdrawing() async throws {
        let script = """
            begin()
            ask("Bash", {"command": "x"})
            say(type="control_cancel_request", request_id="r-1")
            say(type="control_request", request_id="r-2", request={"subtype": "mcp_message", "server_name": "x"})
            seen(hear())
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn(approve: { _ in
                try await ContinuousClock().sleep(for: .seconds(3600))
                return ApprovalAnswer(isAllowed: true)
            })
            #expect(turn.isAnswered && turn.states.contains(.denied))
            let response = try claude.seen().first?["response"]
            #expect(response?["subtype"] == "error" && response?["request_id"] == "r-2")
            #expect(response?["error_code"] == "unsupported_request")
        }
    }

    @Test("An answer that does not fit the question allows nothing, and the turn is marked as not approved")
    func unfit() async throws {
        let script = """
            begin()
            ask("Bash", {"command": "x"})
            seen(hear())
            assistant(text("Done."))
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let problem = InteractionError.unfit(id: "chat.approve", why: "must be one of Yes, No")
            let turn = try await claude.turn(approve: { _ in throw problem })
            #expect(turn.outcome.hasUnfitApproval && turn.outcome.exit == .usage)
            #expect(turn.events.contains(.notice(problem.message)))
            #expect(try claude.seen().first?["response"]?["response"]?["behavior"] == "deny")
        }
    }

    @Test("A question to the user is refused with a message")
    func questions() async throws {
        let script = """
            begin()
            assistant(tool("AskUserQuestion", {"questions": []}))
            ask("AskUserQuestion", {"questions": []}, requires_user_interaction=True)
            seen(hear())
            result_of("no", is_error=True)
            assistant(text("I decide."), id="m-2")
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn(approve: { _ in ApprovalAnswer(isAllowed: true) })
            #expect(turn.isAnswered && turn.message.text == "I decide.")
            let answer = try claude.seen().first?["response"]?["response"]
            #expect(answer?["behavior"] == "deny" && answer?["message"]?.string?.contains("decide yourself") == true)
        }
    }
}

extension String {
    /// With the last occurrence of a text replaced.
    fileprivate func replacing(_ text: String, with other: String) -> String {
        guard let range = self.range(last: text) else { return self }
        return String(self[..<range.lowerBound]) + other + self[range.upperBound...]
    }

    private func range(last text: String) -> Range<Index>? {
        var start = endIndex
        while start > startIndex {
            start = index(before: start)
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
        }
        return nil
    }
}
