import Capabilities
import CoreTesting
import FileKit
import GatewayStore
import JSON
import Synchronization
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Approvals")
struct ApprovalTests {
    /// A turn whose approval requests get this answer at once.
    private func turn(
        _ workshop: Workshop, session: String? = nil, _ heard: Heard = Heard(), answer: ApprovalAnswer
    ) async throws -> TurnReport {
        try await workshop.turns.run(workshop.input("Go", session: session)) { events in
            heard.receive(events)
            for ticket in Heard(events).tickets {
                try workshop.turns.answer(ticket.id, of: ticket.session, answer)
            }
        }
    }

    @Test("A call that changes something needs approval and runs when the client allows it")
    func allowed() async throws {
        let tools = TestTools()
        let model = ScriptedModel("scripted", .call([.named("change", ["to": "blue"])]), .say("done"))
        try await Workshop.run(model, sources: [tools]) { workshop in
            let heard = Heard()
            let report = try await turn(workshop, heard, answer: ApprovalAnswer(isAllowed: true))
            #expect(report.text == "done")
            let ticket = try #require(heard.tickets.first)
            #expect(ticket.call.name == "change" && ticket.call.input == ["to": "blue"])
            #expect(ticket.source == "machines" && ticket.effect == .writes)
            #expect(ticket.limit == .seconds(60))
            #expect(tools.done.map(\.name) == ["change"])
            let entry = try #require(try await workshop.audit(ticket.session).first { $0.action == "tool.call" })
            #expect(entry.subject == "change" && entry.decision == "allowed by the client")
        }
    }

    @Test("The model gets a denial with its reason")
    func denied() async throws {
        let tools = TestTools()
        let model = ScriptedModel("scripted", .call([.named("change")]), .say("then not"))
        try await Workshop.run(model, sources: [tools]) { workshop in
            let report = try await turn(workshop, answer: ApprovalAnswer(isAllowed: false, reason: "not on Sundays"))
            #expect(report.text == "then not")
            #expect(tools.done == [])
            let session = try #require(report.place.session)
            #expect(try await workshop.history(session)[2].contains("not on Sundays"))
        }
    }

    // sandbox cases 76 and 83
    @Test("An approval request without an answer in time is denied")
    func expired() async throws {
        let tools = TestTools()
        let model = ScriptedModel("scripted", .call([.named("change")]), .say("then not"))
        let clock = TestClock()
        try await Workshop.run(model, sources: [tools], clock: clock) { workshop in
            let asked = Promise<ApprovalTicket>()
            let report = try await withThrowingTaskGroup(of: TurnReport.self) { group in
                group.addTask {
                    try await workshop.turns.run(workshop.input("Go")) { events in
                        if let ticket = Heard(events).tickets.first { asked.settle(ticket) }
                    }
                }
                let ticket = try await asked.value()
                // The timeouts of the turn and of the approval request.
                await clock.waitForSleepers(2)
                clock.advance(by: .seconds(59))
                #expect(workshop.turns.openApprovals(of: ticket.session) == [ticket])
                clock.advance(by: .seconds(1))
                return try #require(try await group.next())
            }
            #expect(report.text == "then not")
            #expect(report.outcome.isUnapproved)
            #expect(tools.done == [])
            let ticket = try await asked.value()
            #expect(try await workshop.history(ticket.session)[2].contains("nobody was there"))
            let late = try await refusal {
                try workshop.turns.answer(ticket.id, of: ticket.session, ApprovalAnswer(isAllowed: true))
            }
            #expect(late == .approvalNotFound)
        }
    }

    @Test("A client that does not support approval requests is not asked")
    func cannotAsk() async throws {
        let tools = TestTools()
        let model = ScriptedModel("scripted", .call([.named("change")]), .say("then not"))
        try await Workshop.run(model, sources: [tools]) { workshop in
            let heard = Heard()
            let report = try await workshop.say("Go", canAsk: false, to: heard)
            #expect(heard.tickets == [])
            #expect(report.outcome.isUnapproved)
            #expect(tools.done == [])
        }
    }

    @Test("An answer for the session is stored and applies only to its next turns")
    func forTheSession() async throws {
        let tools = TestTools()
        let call = ScriptedModel.Step.call([.named("change")])
        let model = ScriptedModel("scripted", call, .say("1"), call, .say("2"), call, .say("3"))
        try await Workshop.run(model, sources: [tools]) { workshop in
            let first = try await turn(workshop, answer: ApprovalAnswer(isAllowed: true, scope: .conversation))
            let session = try #require(first.place.session)
            #expect(try await workshop.store.session(session)?.rules.map(\.tool) == ["change"])
            let (again, other) = (Heard(), Heard())
            _ = try await workshop.say("Go", session: session, to: again)
            _ = try await workshop.say("Go", canAsk: false, to: other)
            #expect(again.tickets == [])
            #expect(tools.done.count == 2)
            #expect(other.words.contains("result error"))
        }
    }

    @Test(
        "A permanent answer is one rule in the record of the project's folder",
        arguments: [ApprovalScope.project, .always])
    func forTheProject(scope: ApprovalScope) async throws {
        let tools = TestTools()
        let call = ScriptedModel.Step.call([.named("change")])
        let model = ScriptedModel("scripted", call, .say("1"), call, .say("2"))
        try await Workshop.run(model, sources: [tools]) { workshop in
            _ = try await turn(workshop, answer: ApprovalAnswer(isAllowed: true, scope: scope))
            #expect(try await workshop.store.project(workshop.project.id)?.rules == [])
            let kept = try workshop.folders.record(of: workshop.project.path).rules
            #expect(kept.map { $0["tool"] } == ["change"] && kept.map { $0["scope"] } == ["project"])
            let heard = Heard()
            _ = try await workshop.say("Go", to: heard)
            #expect(heard.tickets == [])
            #expect(tools.done.count == 2)
        }
    }

    @Test("Answers stored with the project are moved to the folder's record, and declared rules stay")
    func moved() async throws {
        let tools = TestTools()
        let call = ScriptedModel.Step.call([.named("change")])
        let declared = ApprovalRule(.allow, tool: "look*", scope: .project)
        let answered = ApprovalRule(.allow, tool: "change", source: "machines", scope: .project)
        let empty = ApprovalRule(
            .allow, tool: "bash.run", source: "files", arguments: ["/command": "env *"], scope: .project)
        let model = ScriptedModel("scripted", call, .say("1"), call, .say("2"))
        try await Workshop.run(
            model, sources: [tools], rules: [declared, answered, empty]
        ) { workshop in
            let path = workshop.project.path
            let heard = Heard()
            _ = try await workshop.say("Go", canAsk: false, to: heard)
            #expect(tools.done.count == 1, "it counts in the turn that moves it")
            #expect(try await workshop.store.project(workshop.project.id)?.rules == [declared])
            let kept = try workshop.folders.record(of: path).rules.map { try ApprovalRule(json: $0) }
            #expect(kept.map(\.verdict) == [.allow, .ask] && kept.map(\.tool) == ["change", "bash.run"])
            #expect(heard.words.contains { $0.contains("you will be asked from now on") })
            // Another folder at the same path has no such rules.
            try Files.rename(path, toNew: "\(path)-before")
            try Files.makeDirectories(path)
            _ = try await workshop.say("Go", canAsk: false)
            #expect(tools.done.count == 1)
        }
    }

    // sandbox case 81
    @Test("If the folder's record cannot be read, every tool is denied with a notice")
    func unreadable() async throws {
        let tools = TestTools("machines", [("look.up", .reads)])
        let model = ScriptedModel("scripted", .call([.named("look_up")]), .say("done"))
        try await Workshop.run(model, sources: [tools]) { workshop in
            try Files.makeDirectories("\(workshop.folder)/state")
            try Files.writeAtomically(Array("{".utf8), to: "\(workshop.folder)/state/folders.json")
            let heard = Heard()
            _ = try await workshop.say("Go", to: heard)
            #expect(tools.done.isEmpty && heard.words.contains { $0.contains("so no tool is used") })
        }
    }

    @Test("The project's rules decide without an approval request")
    func rules() async throws {
        let tools = TestTools("machines", [("change", .writes), ("look.up", .reads)])
        let calls = [ToolCall.named("change", id: "a"), ToolCall.named("look_up", id: "b")]
        let model = ScriptedModel("scripted", .call(calls), .say("done"))
        let rules = [
            ApprovalRule(.allow, tool: "change", scope: .project),
            ApprovalRule(.deny, tool: "look.up", scope: .project),
        ]
        try await Workshop.run(model, sources: [tools], rules: rules) { workshop in
            let heard = Heard()
            let session = try #require(try await workshop.say("Go", to: heard).place.session)
            #expect(heard.tickets == [])
            #expect(tools.done.map(\.name) == ["change"])
            let decisions = try await workshop.audit(session).filter { $0.action == "tool.call" }.map(\.decision)
            #expect(decisions == ["denied by a rule of the project", "allowed by a rule of the project"])
        }
    }

    // sandbox case 76
    @Test("An approval request of another session, or an answered one, cannot be answered")
    func wrongTicket() async throws {
        let model = ScriptedModel("scripted", .call([.named("change")]), .say("done"))
        try await Workshop.run(model, sources: [TestTools()]) { workshop in
            let refused = Mutex<[GatewayError.Kind?]>([])
            _ = try await workshop.turns.run(workshop.input("Go")) { events in
                guard let ticket = Heard(events).tickets.first else { return }
                func answer(_ id: String, _ session: String) async throws {
                    let kind = try await refusal {
                        try workshop.turns.answer(id, of: session, ApprovalAnswer(isAllowed: true))
                    }
                    refused.withLock { $0.append(kind) }
                }
                try await answer(ticket.id, "another")
                try await answer("approval_guessed", ticket.session)
                try await answer(ticket.id, ticket.session)
                try await answer(ticket.id, ticket.session)
            }
            #expect(refused.withLock { $0 } == [.approvalNotFound, .approvalNotFound, nil, .approvalNotFound])
        }
    }

    @Test("An answer at the moment of the timeout counts or is refused, but is never lost")
    func races() async throws {
        for round in 0..<200 {
            let clock = TestClock()
            let approvals = Approvals(clock: clock, now: { Timestamp(microseconds: 0) })
            let call = ToolCall.named("change")
            let request = ApprovalRequest(call: call, tool: "change", source: "machines", effect: .writes, summary: "")
            let asked = Promise<ApprovalTicket>()
            let (isAllowed, isAccepted) = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    do {
                        return try await approvals.ask(request, session: "s", within: .seconds(1)) { asked.settle($0) }
                            .isAllowed
                    } catch is InteractionError {
                        return false
                    }
                }
                let ticket = try await asked.value()
                await clock.waitForSleepers(1)
                async let ringing: Void = clock.advance(by: .seconds(1))
                let kind = try await refusal {
                    try approvals.answer(ticket.id, of: "s", .success(ApprovalAnswer(isAllowed: true)))
                }
                await ringing
                let result: Bool? = try await group.next()
                return (result == true, kind == nil)
            }
            #expect(isAllowed == isAccepted, "round \(round)")
        }
    }
}
