import Capabilities
import CoreTesting
import GatewayStore
import JSON
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Disconnected clients")
struct VanishTests {
    /// A turn in a hanging tool, whose client then disconnects, by its connection or by its task.
    private func vanish(
        _ workshop: Workshop, _ tools: TestTools, session: String, keeps: Bool, byCancelling: Bool
    ) async throws {
        var input = workshop.input("Go", session: session)
        input.keepsRunning = keeps
        let client = Task { [input, turns = workshop.turns] in
            _ = try await turns.run(input) { events in
                if !byCancelling, Heard(events).words.contains("output working\n") { throw TestProblem("gone") }
            }
        }
        try await tools.began.value()
        if byCancelling { client.cancel() }
        await #expect(throws: (any Error).self) { try await client.value }
    }

    @Test("The turn of a disconnected client is ended and stored", arguments: [true, false])
    func ends(byCancelling: Bool) async throws {
        let tools = TestTools()
        let model = ScriptedModel("scripted", .call([.named("look_up", ["hang": true])]), .say("free"))
        try await Workshop.run(model, sources: [tools]) { workshop in
            let session = try await workshop.store.createSession(NewSession(project: workshop.project.id)).id
            try await vanish(workshop, tools, session: session, keeps: false, byCancelling: byCancelling)
            #expect(workshop.turns.running == 0)
            #expect(try await workshop.history(session).count == 3)
            let entry = try #require(try await workshop.audit(session).first { $0.action == "turn.stopped" })
            #expect(entry.detail["reason"] == "vanished")
            #expect(try await workshop.say("Again", session: session).text == "free")
        }
    }

    @Test("A turn that keeps running continues to its end without a reader", arguments: [true, false])
    func goesOn(byCancelling: Bool) async throws {
        let (began, goOn) = (Promise<Void>(), Promise<Void>())
        let model = ScriptedModel(
            "scripted",
            .custom { _ in
                began.settle(())
                try await goOn.value()
                return ChatAnswer(start: ChatStart(), message: Message(.assistant, "done alone"), finish: .stop)
            })
        try await Workshop.run(model) { workshop in
            let session = try await workshop.store.createSession(NewSession(project: workshop.project.id)).id
            var input = workshop.input("Go", session: session)
            input.keepsRunning = true
            let client = Task { [input, turns = workshop.turns] in
                _ = try await turns.run(input) { _ in
                    if !byCancelling { throw TestProblem("gone") }
                }
            }
            try await began.value()
            client.cancel()
            await #expect(throws: (any Error).self) { try await client.value }
            #expect(workshop.turns.runningSessions == [session])
            let turn = try #require(workshop.turns.table.turn(of: session))
            goOn.settle(())
            #expect(try await turn.task.value.get().text == "done alone")
            #expect(try await workshop.history(session) == ["user: Go", "assistant: done alone"])
        }
    }

    @Test("A turn that keeps running has its limits and can be stopped")
    func limited() async throws {
        let clock = TestClock()
        let tools = TestTools()
        let model = ScriptedModel("scripted", .call([.named("look_up", ["hang": true])]))
        try await Workshop.run(model, sources: [tools], clock: clock) { workshop in
            let session = try await workshop.store.createSession(NewSession(project: workshop.project.id)).id
            try await vanish(workshop, tools, session: session, keeps: true, byCancelling: true)
            let turn = try #require(workshop.turns.table.turn(of: session))
            // The timeouts of the turn and of the tool.
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1800))
            #expect(try await turn.task.value.get().failure?.code == "gateway.time-limit")
            #expect(try await workshop.turns.stop(session: session) == false)
        }
    }

    @Test("Closing the gateway ends and stores turns that keep running, and awaits their tools")
    func closes() async throws {
        let tools = TestTools()
        let model = ScriptedModel("scripted", .call([.named("look_up", ["hang": true])]))
        try await Workshop.run(model, sources: [tools]) { workshop in
            let session = try await workshop.store.createSession(NewSession(project: workshop.project.id)).id
            try await vanish(workshop, tools, session: session, keeps: true, byCancelling: true)
            await workshop.turns.close()
            #expect(workshop.turns.running == 0)
            #expect(tools.cancelled == 1)
            #expect(try await workshop.history(session).count == 3)
            let kind = try await refusal { _ = try await workshop.say("Hello", session: session) }
            #expect(kind == .closing)
            #expect(try await workshop.turns.status(session: session).isRunning == false)
        }
    }

    @Test("A turn is ended when its last reference is dropped")
    func dropped() async throws {
        let model = ScriptedModel("scripted", .hang("Once"), .say("free"))
        try await Workshop.run(model) { workshop in
            let session = try await workshop.store.createSession(NewSession(project: workshop.project.id)).id
            let table = workshop.turns.table
            do {
                let turn = try await workshop.turns.open(workshop.input("Go", session: session))
                #expect(turn.place.session == session)
                await turn.ready()
                var events: [GatewayEvent] = []
                while !events.contains(.chat(.text("Once"))) { events += try #require(await turn.next()) }
                #expect(events.first == .began(turn.place))
            }
            if let left = table.turn(of: session) { _ = await left.task.value }
            #expect(try await workshop.say("Again", session: session).text == "free")
        }
    }
}
