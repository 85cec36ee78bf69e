import Capabilities
import GatewayStore
import JSON
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("The offline model in the gateway")
struct OfflineTests {
    @Test("The offline model finds a TODO and marks it in the project's folder, as the rules allow")
    func edits() async throws {
        let rules = [ApprovalRule(.allow, tool: "*", source: "files", scope: .project)]
        try await Workshop.run(rules: rules) { workshop in
            let heard = Heard()
            let report = try await workshop.say("find the TODOs and mark the first as done", to: heard)
            #expect(report.outcome.end.word == "answered")
            #expect(report.place.name == "martlet/martlet-offline")
            #expect(heard.tickets == [])
            let text = try workshop.notes()
            #expect(text == "one\ntwo // DONE: three\n")
            let session = try #require(report.place.session)
            let calls = try await workshop.audit(session).filter { $0.action == "tool.call" }
            #expect(calls.contains { $0.decision == "allowed by a rule of the project" })
            #expect(report.outcome.usage.cost == Cost(nanodollars: 0))
        }
    }

    @Test("Without a rule the edit needs approval, and a denial leaves the file unchanged")
    func asks() async throws {
        try await Workshop.run { workshop in
            let input = workshop.input("find the TODOs and mark the first as done")
            let heard = Heard()
            let report = try await workshop.turns.run(input) { events in
                heard.receive(events)
                for ticket in Heard(events).tickets {
                    try workshop.turns.answer(ticket.id, of: ticket.session, ApprovalAnswer(isAllowed: false))
                }
            }
            #expect(report.outcome.end.word == "answered")
            #expect(heard.tickets.count == 1)
            let text = try workshop.notes()
            #expect(text.contains("TODO: three"))
        }
    }

    @Test("A completion by the offline model has no tools and says what it can do")
    func completion() async throws {
        try await Workshop.run { workshop in
            let chat = ChatRequest(model: "martlet-offline", messages: [Message(.user, "What can you do?")])
            let heard = Heard()
            let report = try await workshop.turns.run(TurnInput(chat)) { heard.receive($0) }
            #expect(!report.text.isEmpty && heard.text == report.text)
        }
    }
}
