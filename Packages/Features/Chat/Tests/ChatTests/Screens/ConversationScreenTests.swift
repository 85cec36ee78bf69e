import Capabilities
import ChatHistory
import CoreTesting
import JSON
import Registry
import Screens
import StorageKit
import Testing

@testable import Chat

@Suite("Screen of a conversation", .timeLimit(.minutes(5)))
struct ConversationScreenTests {
    @Test("A conversation is shown with its authors, its calls, what it took, and where to write")
    func whole() async throws {
        try await ScreenDesk.run { desk in
            let (test, history) = (desk.test, desk.history)
            let talk = try await history.create(ConversationSetup(provider: "openai", model: "gpt-5"))
            let question = try await history.append(Message(.user, "Which *birds*?"), to: talk.id, after: nil)
            let call = ToolCall(id: "c1", name: "look", input: ["at": "sky"])
            try await history.note(
                CallEntry(
                    call, .denied, result: ToolResult(call: "c1", content: "not done", isError: true),
                    started: Timestamp(microseconds: 0), ended: Timestamp(microseconds: 2_000_000)), in: talk.id)
            let asking = try await history.append(
                Message(.assistant, [.reasoning(Reasoning("Hm.")), .text("I look."), .call(call)]), to: talk.id,
                after: question.id, model: "gpt-5")
            let result = try await history.append(
                Message(.tool, [.result(ToolResult(call: "c1", content: "not done", isError: true))]), to: talk.id,
                after: asking.id)
            _ = try await history.begin(in: talk.id, after: result.id, provider: "openai", model: "gpt-5").finish(
                ChatAnswer(
                    start: ChatStart(), message: Message(.assistant, "Swallows."), finish: .stop,
                    usage: Usage(inputTokens: 70_000, outputTokens: 10_000)))

            let block = try await test.open("chat.conversation", ["conversation": .string(talk.id.tag)]) { view in
                try await view.block { _ in true }
            }
            let entries = block.entries
            #expect(entries.map(\.author) == [.person, .thought, .model, .tool, .model])
            #expect(
                entries.map(\.text) == [
                    "Which *birds*?", "Hm.", "I look.", "{\"at\":\"sky\"}\n\nnot done", "Swallows.",
                ])
            #expect(entries[3].title == "look" && entries[3].state == "denied" && entries[4].title == "gpt-5")
            #expect(Set(entries.map(\.id)).count == 5 && entries.allSatisfy { !$0.isOpen && $0.time != nil })
            #expect(block.steps.map(\.state) == ["denied"] && block.steps[0].duration == .seconds(2))
            let values = try #require(block.values)
            #expect(values["model"] == "gpt-5" && values["input_tokens"] == 70_000 && values["messages"] == 4)
            #expect(values["context"] == "20% of 400000 tokens")
            #expect(values["state"] == "ready")
            #expect(
                block.links.map(\.title) == [
                    "Retry", "Rename", "Other model", "Fork", "Export", "Delete", "Tool calls", "New",
                ])
            #expect(block.links.last?.arguments() == ["model": "openai/gpt-5"])
            let composer = try #require(block.composer)
            #expect(composer.action == "chat.send" && composer.arguments["conversation"] == .string(talk.id.rawValue))
            // The option of 'chat send' that attaches files.
            #expect(composer.files == "file")
        }
    }

    @Test("An answer that another program writes grows in place, and nothing before it is read again")
    func growing() async throws {
        try await ScreenDesk.run { desk in
            let test = desk.test
            let clock = TestClock()
            let other = History(
                "\(test.host.locations.data)/chat.db", clock: clock, now: { Timestamp(microseconds: 0) })
            let talk = try await other.create(ConversationSetup())
            let question = try await other.append(Message(.user, "Which birds?"), to: talk.id, after: nil)
            try await test.open("chat.conversation") { view in
                let first = try await view.block { $0.entries.count == 1 }
                #expect(first.values?["state"] == "answering")

                let draft = other.begin(in: talk.id, after: question.id, model: "m")
                draft.append([.reasoning("Let me see")])
                await clock.waitForSleepers(1)
                let thought = try await desk.next(view, after: .milliseconds(500)) { $0.entries.count == 2 }
                #expect(thought.entries.last?.author == .thought && thought.entries.last?.isOpen == true)

                draft.append([.text("Swal")])
                clock.advance(by: .milliseconds(150))
                await clock.waitForSleepers(1)
                let text = try await desk.next(view, after: .milliseconds(500)) { $0.entries.count == 3 }
                #expect(text.entries.map(\.text) == ["Which birds?", "Let me see", "Swal"])
                #expect(text.entries.map(\.isOpen) == [false, false, true])

                try await draft.finish(
                    ChatAnswer(
                        start: ChatStart(),
                        message: Message(.assistant, [.reasoning(Reasoning("Let me see")), .text("Swallows.")]),
                        finish: .stop, usage: Usage()))
                // The feed has the text a moment before the value says that all of it is there.
                let done = try await desk.next(view, after: .milliseconds(500)) {
                    $0.entries.last?.text == "Swallows." && $0.values?["state"] == "ready"
                }
                #expect(done.entries.map(\.isOpen) == [false, false, false])
                // The same feed, of which only the newest entries were ever replaced.
                #expect(done.feed === first.feed)
            }
            await other.close()
        }
    }

    @Test("Of calls that run side by side the first is in the transcript, and all are in the list")
    func calls() async throws {
        try await ScreenDesk.run { desk in
            let (test, history) = (desk.test, desk.history)
            let talk = try await history.talk("Look")
            let calls = ["a", "b"].map { ToolCall(id: $0, name: "look-\($0)", input: [:]) }
            let asking = try await history.append(
                Message(.assistant, calls.map { .call($0) }), to: talk.id, after: talk.head)
            var noted: [CallEntry] = []
            for call in calls { noted.append(try await history.note(CallEntry(call, .running), in: talk.id)) }
            let stored = noted
            try await test.open("chat.conversation") { view in
                let running = try await view.block { _ in true }
                #expect(running.entries.map(\.title) == [nil, "look-a"] && running.entries[1].isOpen)
                #expect(running.steps.map(\.state) == ["running", "running"])

                var second = stored[1]
                second.state = .done
                second.result = ToolResult(call: "b", content: "seen")
                try await history.note(second, in: talk.id)
                let one = try await desk.next(view, after: .milliseconds(500)) {
                    $0.steps.map(\.state) == ["running", "done"]
                }
                #expect(one.entries.count == 2)

                var first = stored[0]
                first.state = .failed
                first.result = ToolResult(call: "a", content: "too dark, and a long reason", isError: true)
                try await history.note(first, in: talk.id)
                let ended = try await desk.next(view, after: .milliseconds(500)) { $0.entries.count == 3 }
                #expect(ended.entries.map(\.state) == [nil, "failed", "done"])

                // The model gets less, which changes nothing here.
                let results = calls.map {
                    Message.Part.result(ToolResult(call: $0.id, content: "seen", isError: $0.id == "a"))
                }
                _ = try await history.append(Message(.tool, results), to: talk.id, after: asking.id)
                let both = try await desk.next(view, after: .milliseconds(500)) {
                    $0.values?["messages"] == 3
                }
                #expect(both.entries.map(\.text) == ["Look", "too dark, and a long reason", "seen"])
                #expect(both.feed === running.feed)
            }
        }
    }

    @Test("A call does not get the output of an older one with the same id")
    func repeatedIDs() async throws {
        try await ScreenDesk.run { desk in
            let history = desk.history
            let talk = try await history.talk("Look")
            var head = talk.head
            func time(_ second: Int64) -> Timestamp { Timestamp(microseconds: second * 1_000_000) }
            func ask(_ place: String, at second: Int64) async throws -> ToolCall {
                desk.set(time(second))
                let call = ToolCall(id: "call_0", name: "look", input: ["at": .string(place)])
                head = try await history.append(Message(.assistant, [.call(call)]), to: talk.id, after: head).id
                return call
            }
            func answer(_ text: String) async throws {
                let result = ToolResult(call: "call_0", content: text)
                head = try await history.append(Message(.tool, [.result(result)]), to: talk.id, after: head).id
            }
            let first = try await ask("sky", at: 10)
            try await history.note(
                CallEntry(
                    first, .done, result: ToolResult(call: "call_0", content: "all swallows"), started: time(11),
                    ended: time(12)), in: talk.id)
            try await answer("swallows")
            _ = try await ask("sea", at: 20)
            try await answer("gulls")
            _ = try await ask("sky", at: 30)
            let shown = try await desk.test.open("chat.conversation") { view in try await view.block { _ in true } }
            #expect(
                shown.entries.map(\.text) == [
                    "Look", "{\"at\":\"sky\"}\n\nall swallows", "{\"at\":\"sea\"}\n\ngulls", "{\"at\":\"sky\"}",
                ])
            #expect(shown.entries.map(\.isOpen) == [false, false, false, true])
        }
    }

    @Test("A branch is another transcript, and an answer that did not come is said to be so")
    func branch() async throws {
        try await ScreenDesk.run { desk in
            let (test, history) = (desk.test, desk.history)
            let talk = try await history.talk("1", "2", "3")
            let second = try await history.entries(of: talk.id)[1].id
            try await test.open("chat.conversation") { view in
                let first = try await view.block { $0.entries.count == 3 }
                let other = try await history.append(
                    Message(.user, "other"), to: talk.id, after: second, as: .branch)
                try await history.begin(in: talk.id, after: other.id).fail(OutOfOrder())
                view.refresh()
                let shown = try await view.block { $0.entries.count == 4 }
                #expect(shown.entries.map(\.text) == ["1", "2", "other", "the till is stuck"])
                #expect(shown.entries[3].author == .notice && shown.entries[3].state == "failed")
                #expect(shown.feed !== first.feed)
            }
        }
    }

    @Test("Of a very long conversation the newest messages are shown, and a new one is appended")
    func long() async throws {
        try await ScreenDesk.run { desk in
            let talk = try await desk.history.talk("first")
            let (first, count) = (try #require(talk.head), Self.manyMessages)
            try await desk.history.database.write { connection in
                try connection.run(
                    """
                    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)
                    INSERT INTO messages (id, conversation, tree, parent, position, role, text, time, state)
                        SELECT ?1 + n, conversation, tree, ?1 + n - 1, n, 'user', 'message ' || n, 0, 'complete'
                        FROM numbers, messages WHERE messages.id = ?1
                    """, first, count)
                try connection.run("UPDATE conversations SET head = ?", first.rawValue + Int64(count))
            }
            try await desk.test.open("chat.conversation") { view in
                let shown = try await view.block { _ in true }
                let feed = try #require(shown.feed)
                #expect(shown.entries.last?.text == "message \(count)" && shown.values?["messages"] == .int(count + 1))
                #expect(feed.end == 4_001 && shown.entries[0].author == .notice)
                #expect(shown.entries[0].text.hasPrefix("8001 older messages are not shown here"))
                let last = MessageID(rawValue: first.rawValue + Int64(count))
                _ = try await desk.history.append(Message(.assistant, "At last."), to: talk.id, after: last)
                let next = try await desk.next(view, after: .milliseconds(500)) { $0.entries.last?.text == "At last." }
                #expect(next.feed === feed && feed.end == 4_002)
            }
        }
    }

    private static let manyMessages = 12_000

    @Test("Without a conversation the screen says what to do")
    func none() async throws {
        try await ScreenDesk.run { desk in
            let state = try await desk.test.open("chat.conversation") { view in
                for try await state in view.states { if case .failed = state { return state } }
                throw CancellationError()
            }
            guard case .failed(let failure, nil) = state else {
                Issue.record("\(state)")
                return
            }
            #expect(failure.code == "history.not-found" && failure.message.contains("'martlet chat' starts one"))
        }
    }
}
