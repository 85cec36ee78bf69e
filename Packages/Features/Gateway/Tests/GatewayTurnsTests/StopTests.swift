import Capabilities
import GatewayStore
import JSON
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Stopping")
struct StopTests {
    /// Starts a turn, waits for a moment, stops it, and returns its report.
    private func stopping(
        _ workshop: Workshop, _ heard: Heard = Heard(), at moment: Promise<Void>,
        emit: (@Sendable ([GatewayEvent]) async throws -> Void)? = nil
    ) async throws -> TurnReport {
        let session = try await workshop.store.createSession(NewSession(project: workshop.project.id))
        let input = workshop.input("Go", session: session.id)
        return try await withThrowingTaskGroup(of: TurnReport.self) { group in
            group.addTask { [turns = workshop.turns] in
                try await turns.run(input) { events in
                    heard.receive(events)
                    try await emit?(events)
                }
            }
            try await moment.value()
            #expect(try await workshop.turns.stop(session: session.id))
            // The turn has ended by now, whether its events were read or not.
            #expect(workshop.turns.running == 0)
            return try #require(try await group.next())
        }
    }

    @Test("A stop in the middle of an answer keeps what was said and leaves the session usable")
    func inAnAnswer() async throws {
        let model = ScriptedModel("scripted", .hang("Once upon a time"), .say("there was"))
        try await Workshop.run(model) { workshop in
            let said = Promise<Void>()
            let report = try await stopping(workshop, at: said) { events in
                if events.contains(.chat(.text("Once upon a time"))) { said.settle(()) }
            }
            #expect(report.outcome.end.word == "stopped")
            #expect(report.failure == nil)
            #expect(report.text == "Once upon a time")
            let session = try #require(report.place.session)
            #expect(try await workshop.history(session) == ["user: Go", "assistant: Once upon a time"])
            #expect(try await workshop.say("Go on", session: session).text == "there was")
            let entry = try #require(try await workshop.audit(session).first { $0.action == "turn.stopped" })
            #expect(entry.detail["reason"] == "stopped")
        }
    }

    @Test("A stop in the middle of a tool gives the call a result and cancels the tool")
    func inATool() async throws {
        let tools = TestTools()
        let model = ScriptedModel("scripted", .call([.named("look_up", ["hang": true])]))
        try await Workshop.run(model, sources: [tools]) { workshop in
            let heard = Heard()
            let report = try await stopping(workshop, heard, at: tools.began)
            #expect(report.outcome.end.word == "stopped")
            #expect(heard.words.contains("output working\n"))
            #expect(heard.words.last == "result error")
            let session = try #require(report.place.session)
            #expect(try await workshop.history(session).last?.contains("stopped by the person") == true)
            await workshop.turns.close()
            #expect(tools.cancelled == 1)
        }
    }

    @Test("A stop withdraws an open approval request")
    func inAQuestion() async throws {
        let tools = TestTools()
        let model = ScriptedModel("scripted", .call([.named("change")]))
        try await Workshop.run(model, sources: [tools]) { workshop in
            let asked = Promise<Void>()
            let heard = Heard()
            let report = try await stopping(workshop, heard, at: asked) { events in
                if !Heard(events).tickets.isEmpty { asked.settle(()) }
            }
            #expect(report.outcome.end.word == "stopped")
            #expect(tools.done == [])
            let session = try #require(report.place.session)
            #expect(workshop.turns.openApprovals(of: session) == [])
        }
    }

    @Test("A client that reads nothing does not delay a stop")
    func stalledClient() async throws {
        let words = (0..<1000).map { "word\($0)" }.joined(separator: " ")
        let model = ScriptedModel("scripted", .say(words), .hang(""))
        try await Workshop.run(model) { workshop in
            let (stalled, goesOn) = (Promise<Void>(), Promise<Void>())
            let report = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    // Continues to read only when the turn has ended.
                    while workshop.turns.running == 0 { await Task.yield() }
                    while workshop.turns.running > 0 { await Task.yield() }
                    goesOn.settle(())
                }
                return try await stopping(workshop, at: stalled) { events in
                    guard events.contains(where: { if case .chat(.text) = $0 { true } else { false } }) else { return }
                    stalled.settle(())
                    try await goesOn.value()
                }
            }
            #expect(report.outcome.end.word == "stopped")
            // Only what the client had room for was fetched from the model.
            #expect(report.text.count < words.count / 2)
        }
    }

    @Test("Stopping an idle session does nothing, and an unknown session is an error")
    func nothingToStop() async throws {
        try await Workshop.run(ScriptedModel()) { workshop in
            let session = try #require(try await workshop.say("Hello").place.session)
            #expect(try await workshop.turns.stop(session: session) == false)
            #expect(try await refusal { _ = try await workshop.turns.stop(session: "none") } == .sessionNotFound)
        }
    }

    @Test("The status shows whether a turn runs and waits for approval")
    func status() async throws {
        let model = ScriptedModel("scripted", .call([.named("change")]))
        try await Workshop.run(model, sources: [TestTools()]) { workshop in
            let (asked, looked) = (Promise<String>(), Promise<SessionStatus>())
            let report = try await withThrowingTaskGroup(of: TurnReport.self) { group in
                group.addTask {
                    try await workshop.turns.run(workshop.input("Go")) { events in
                        if let ticket = Heard(events).tickets.first { asked.settle(ticket.session) }
                    }
                }
                let session = try await asked.value()
                looked.settle(try await workshop.turns.status(session: session))
                #expect(workshop.turns.runningSessions == [session])
                _ = try await workshop.turns.stop(session: session)
                return try #require(try await group.next())
            }
            let during = try await looked.value()
            #expect(during.isRunning && during.openApprovals == 1)
            let after = try await workshop.turns.status(session: try #require(report.place.session))
            #expect(!after.isRunning && after.openApprovals == 0)
            #expect(after.session.messages == 3)
        }
    }
}
