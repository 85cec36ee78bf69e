import Capabilities
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Testing

@Suite("System prompt of an agent", .timeLimit(.minutes(5)))
struct AgentInstructionTests {
    @Test("An agent keeps its own system prompt unless the user sets one")
    func agent() async throws {
        try await Desk.run(answers: Answers.say("1"), Answers.say("2"), Answers.say("3"), Answers.say("4")) { desk in
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            try await desk.say("one", ["model": "gateway"])
            try await desk.say("two", ["continue": true])
            try await desk.say("three", ["model": "gateway", "system": "Be brief."])
            try await desk.say("four", ["model": "openai/small"])
            let bodies = desk.asked.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(!bodies[0].contains("helpful assistant") && !bodies[1].contains("helpful assistant"))
            #expect(bodies[2].contains("Be brief."))
            #expect(bodies[3].contains("helpful assistant"))
        }
    }

    @Test("A system prompt stays, and a later one is ignored with a notice")
    func kept() async throws {
        try await Desk.run(answers: Answers.say("1"), Answers.say("2")) { desk in
            try await desk.say("one", ["system": "Old."])
            let done = try await desk.say("two", ["continue": true, "system": "New."])
            #expect(desk.asked[1].said.first == "system: Old.")
            #expect(done.notices.contains("--system is ignored"))
        }
    }
}
