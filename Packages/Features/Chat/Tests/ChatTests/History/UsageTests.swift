import Capabilities
import CoreTesting
import HostTesting
import JSON
import Registry
import Testing

@Suite("Usage", .timeLimit(.minutes(5)))
struct UsageTests {
    @Test("Usage is counted by model, conversation, provider and day, and unknown is not zero")
    func groups() async throws {
        let silent = Answers.first + Answers.piece("B") + Answers.silentEnd
        try await Desk.run(answers: Answers.say("A"), Answers.say("A"), silent) { desk in
            let first = try #require(try await desk.say("one", ["model": "openai/gpt-5-mini"])["session_id"])
            try await desk.say("two", ["conversation": first])
            let second = try #require(try await desk.say("three", ["model": "openai/house-model"])["session_id"])
            let models = try await desk.run("chat.usage").json.array ?? []
            #expect(models.map { $0["group"] } == ["small-1"])
            #expect(models.first?["answers"] == 2 && models.first?["input_tokens"] == 18)
            #expect(models.first?["output_tokens"] == 4)
            let cost = try #require(models.first?["cost_usd"]?.double)
            #expect(cost > 0 && cost < 0.001)
            let talks = try await desk.run("chat.usage", ["by": "conversation"]).json.array ?? []
            #expect(talks.map { $0["group"] } == [first] && talks.first?["title"] == "one")
            #expect(!talks.contains { $0["group"] == second })
            #expect(try await desk.run("chat.usage", ["by": "provider"]).json[0]?["group"] == "openai")
            let days = try await desk.run("chat.usage", ["by": "day"]).json.array ?? []
            #expect(days.map { $0["group"] } == ["2027-01-15"], "\(days)")
            #expect(try await desk.run("chat.usage", ["since": "2030-01-01T00:00:00Z"]).json == [])
            #expect(try await desk.run("chat.usage", ["provider": "anthropic"]).json == [])
        }
    }

    @Test("Usage is shown with the conversation and with its tool calls")
    func totals() async throws {
        try await Desk.run(answers: Answers.call("shop_broken"), Answers.say("So.")) { desk in
            let done = try await desk.say("Look", ["tools": true, "model": "openai/gpt-5-mini"])
            let id = try #require(done["session_id"])
            let shown = try await desk.run("chat.show", ["conversation": id])
            #expect(shown["usage"]?["input_tokens"] == 18 && shown["usage"]?["cost_usd"]?.double ?? 0 > 0)
            let inspected = try await desk.run("chat.inspect", ["conversation": id])
            #expect(inspected.notices.hasPrefix("1 call, 1 failed, "), "\(inspected.notices)")
            #expect(inspected.notices.contains("18 tokens read, 4 written") && inspected.notices.contains("$0.00"))
        }
    }
}
