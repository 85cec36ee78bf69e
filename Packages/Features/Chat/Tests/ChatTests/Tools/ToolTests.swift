import Capabilities
import CoreTesting
import FileKit
import HostTesting
import JSON
import Registry
import Testing

@Suite("Tools of a model", .timeLimit(.minutes(5)))
struct ToolTests {
    @Test("A model gets no tools by default")
    func none() async throws {
        try await Desk.run(answers: Answers.say("Hello")) { desk in
            try await desk.say("Hi")
            #expect(desk.asked[0].tools.isEmpty)
        }
    }

    @Test("A model may use tools that only read, and all calls are shown and stored in order")
    func reads() async throws {
        try await Desk.run(answers: Answers.call("shop_stock", input: ["thing": "nails"]), Answers.say("Seven.")) {
            desk in
            let done = try await desk.say("How many nails?", ["tools": true])
            #expect(done.types == ["init", "tool_use", "tool_result", "message"])
            let (use, result) = (done.output.events[1].fields, done.output.events[2].fields)
            #expect(use["name"] == "shop_stock" && use["input"]?["thing"] == "nails")
            #expect(result["tool_id"] == use["id"] && result["is_error"] == false)
            #expect(result["content"]?.string?.contains("7 nails") == true)
            #expect(done["result"] == "Seven." && done["num_turns"] == 2 && done["failed_tools"] == 0)
            #expect(done["usage"]?["input_tokens"] == 18)
            #expect(desk.asked[0].tools.contains("shop_stock") && desk.asked[0].tools.contains("saw"))
            #expect(desk.asked[1].last.contains("7 nails"))
            let id = try #require(done["session_id"])
            let calls = try await desk.run("chat.inspect", ["conversation": id])
            #expect(calls.json.array?.count == 1)
            #expect(calls.json.array?.first?["tool"] == "shop_stock" && calls.json.array?.first?["state"] == "done")
            #expect(calls.json.array?.first?["input"]?["thing"] == "nails")
            #expect(calls.json.array?.first?["output"]?.string?.contains("7 nails") == true)
        }
    }

    @Test("Tools stay in the folder for which they were chosen, and are not used in others without approval")
    func otherFolder() async throws {
        try await Desk.run(
            answers: Answers.say("1"), Answers.say("2"), Answers.say("3"), Answers.say("4"), Answers.say("5")
        ) { desk in
            let notice = "were chosen for another folder"
            try await desk.say("one", ["tools": true])
            let same = try await desk.say("two", ["continue": true])
            #expect(!desk.asked[1].tools.isEmpty && !same.notices.contains(notice))
            desk.current = "\(desk.folder)/other"
            try Files.makeDirectories("\(desk.folder)/other")
            let other = try await desk.say("three", ["continue": true])
            #expect(desk.asked[2].tools.isEmpty && other.notices.contains(notice))
            let wanted = try await desk.say("four", ["continue": true, "tools": true])
            #expect(!desk.asked[3].tools.isEmpty && !wanted.notices.contains(notice))
            desk.settings = "{chat: {tools: true}}"
            let set = try await desk.say("five", ["continue": true])
            #expect(!desk.asked[4].tools.isEmpty && !set.notices.contains(notice))
        }
    }

    @Test("Only listed actions of Martlet are offered as tools")
    func actions() async throws {
        try await Desk.run(answers: Answers.call("shop_price"), Answers.say("Well.")) { desk in
            let done = try await desk.say("What does it cost?", ["tools": true])
            let own = desk.asked[0].tools.filter { $0.hasPrefix("chat") || $0.hasPrefix("shop_") }
            #expect(own.sorted() == ["chat_list", "chat_search", "shop_broken", "shop_stock"])
            #expect(done["failed_tools"] == 1 && !desk.asked[1].last.contains("12"))
        }
    }

    @Test("A failing tool is reported to the model and the user, and the turn continues")
    func failing() async throws {
        try await Desk.run(answers: Answers.call("shop_broken"), Answers.say("The till is broken.")) { desk in
            let done = try await desk.say("Look", ["tools": true])
            #expect(done.exit == .done && done["failed_tools"] == 1, "\(done.json.text())")
            let result = done.output.events.first { $0.type == "tool_result" }
            #expect(result?.fields["is_error"] == true)
            #expect(done.notices.contains("shop_broken failed"))
            #expect(desk.asked[1].last.contains("the till is stuck"))
        }
    }

    @Test("A missing tool or a wrong input is reported to the model", arguments: ["shop_stok", "shop_stock"])
    func wrong(name: String) async throws {
        try await Desk.run(answers: Answers.call(name), Answers.say("Well.")) { desk in
            let done = try await desk.say("Look", ["tools": true])
            #expect(done.exit == .done && done["failed_tools"] == 1)
            #expect(desk.asked[1].last.contains(name == "shop_stok" ? "shop_stock" : "thing"))
        }
    }

    @Test("A model may make several calls in one answer")
    func several() async throws {
        try await Desk.run(
            answers: Answers.call("shop_stock", "shop_broken", input: ["thing": "nails"]), Answers.say("So.")
        ) { desk in
            let done = try await desk.say("Look", ["tools": true])
            #expect(done.types.count { $0 == "tool_use" } == 2 && done.types.count { $0 == "tool_result" } == 2)
            #expect(done["failed_tools"] == 1)
            let results = desk.asked[1].json["messages"]?.array?.filter { $0["role"] == "tool" } ?? []
            #expect(results.map { $0["tool_call_id"] } == ["call_0", "call_1"])
        }
    }

    @Test("A stop during a tool call ends it, and the conversation continues")
    func stopped() async throws {
        try await Desk.run(answers: Answers.call("dry"), Answers.say("Well.")) { desk in
            let heard = RecordingOutput()
            let task = Task { [desk] in
                try await desk.attempt("chat.send", ["message": "Dry it", "tools": true], to: heard)
            }
            await heard.wait { $0.contains { $0.type == "tool_use" } }
            task.cancel()
            let done = try await task.value
            #expect(done.exit == .interrupted)
            #expect(heard.events.last?.type == "tool_result" && heard.events.last?.fields["is_error"] == true)
            try await desk.say("And now?", ["continue": true])
            // Every call has its result, without which providers refuse a history.
            let messages = desk.asked[1].json["messages"]?.array ?? []
            let calls = messages.compactMap { $0["tool_calls"]?.array?.first?["id"]?.string }
            #expect(calls.count == 1 && messages.compactMap { $0["tool_call_id"]?.string } == calls)
            #expect(desk.asked[1].last == "user: And now?")
        }
    }

    @Test("A model that never stops calling tools is stopped")
    func rounds() async throws {
        try await Desk.run({ try $0.stream(Answers.call("shop_stock", input: ["thing": "nails"])) }) { desk in
            desk.settings = "{chat: {'max-rounds': 3}}"
            let done = try await desk.attempt("chat.send", ["message": "Count", "tools": true])
            #expect(done.failure?.code == "chat.round-limit" && done.exit == .failed)
            #expect(desk.asked.count == 3)
        }
    }
}
