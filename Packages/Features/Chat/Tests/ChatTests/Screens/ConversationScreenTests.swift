import Capabilities
import ChatHistory
import CoreTesting
import FileKit
import HostKit
import HostTesting
import JSON
import Registry
import Screens
import Testing

@testable import Chat

@Suite("Screen of a conversation", .timeLimit(.minutes(5)))
struct ConversationScreenTests {
    /// Lends a host, and the history as another program would have it open.
    private static func withDesk(
        _ body: (TestHost, History) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.run { folder in
            let test = try TestHost([HostFeature.self, Workshop.self, ChatFeature.self], folder: folder)
            try Files.makeDirectories("\(folder)/data")
            let history = History("\(folder)/data/chat.db", clock: TestClock(), now: { Timestamp(microseconds: 0) })
            try await body(test, history)
            await history.close()
            #expect(await test.session.close() == [])
        }
    }

    /// The first value that fulfils a condition.
    @discardableResult
    private static func wait(_ view: OpenScreen, _ condition: (Block) -> Bool) async throws -> Block {
        for try await state in view.states {
            if case .failed(let failure, _) = state { throw failure }
            if let block = state.block, condition(block) { return block }
        }
        throw CancellationError()
    }

    /// Waits until the screen looks again, lets it, and returns the value that follows.
    private static func next(
        _ view: OpenScreen, _ test: TestHost, after pause: Duration, _ condition: (Block) -> Bool
    ) async throws -> Block {
        await test.clock.waitForSleepers(1)
        test.clock.advance(by: pause)
        return try await wait(view, condition)
    }

    @Test("A conversation is shown with its authors, its calls, what it took, and where to write")
    func whole() async throws {
        try await Self.withDesk { test, history in
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
            _ = try await history.begin(in: talk.id, after: result.id, model: "gpt-5").finish(
                ChatAnswer(
                    start: ChatStart(), message: Message(.assistant, "Swallows."), finish: .stop,
                    usage: Usage(inputTokens: 7, outputTokens: 2)))

            let block = try await test.open("chat.conversation", ["conversation": .string(talk.id.tag)]) { view in
                try await Self.wait(view) { _ in true }
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
            #expect(values["model"] == "gpt-5" && values["input_tokens"] == 7 && values["messages"] == 4)
            #expect(values["state"] == "ready")
            #expect(block.links.map(\.title) == ["Rename", "Fork", "Export", "Delete", "Tool calls"])
            let composer = try #require(block.composer)
            #expect(composer.action == "chat.send" && composer.arguments["conversation"] == .string(talk.id.rawValue))
        }
    }

    @Test("An answer that another program writes grows in place, and nothing before it is read again")
    func growing() async throws {
        try await Self.withDesk { test, history in
            let clock = TestClock()
            let other = History(
                "\(test.host.locations.data)/chat.db", clock: clock, now: { Timestamp(microseconds: 0) })
            let talk = try await other.create(ConversationSetup())
            let question = try await other.append(Message(.user, "Which birds?"), to: talk.id, after: nil)
            try await test.open("chat.conversation") { view in
                let first = try await Self.wait(view) { $0.entries.count == 1 }
                #expect(first.values?["state"] == "answering")

                let draft = other.begin(in: talk.id, after: question.id, model: "m")
                draft.append([.reasoning("Let me see")])
                await clock.waitForSleepers(1)
                let thought = try await Self.next(view, test, after: .milliseconds(500)) { $0.entries.count == 2 }
                #expect(thought.entries.last?.author == .thought && thought.entries.last?.isOpen == true)

                draft.append([.text("Swal")])
                clock.advance(by: .milliseconds(150))
                await clock.waitForSleepers(1)
                let text = try await Self.next(view, test, after: .milliseconds(500)) { $0.entries.count == 3 }
                #expect(text.entries.map(\.text) == ["Which birds?", "Let me see", "Swal"])
                #expect(text.entries.map(\.isOpen) == [false, false, true])

                try await draft.finish(
                    ChatAnswer(
                        start: ChatStart(),
                        message: Message(.assistant, [.reasoning(Reasoning("Let me see")), .text("Swallows.")]),
                        finish: .stop, usage: Usage()))
                let done = try await Self.next(view, test, after: .milliseconds(500)) {
                    $0.entries.last?.text == "Swallows."
                }
                #expect(done.entries.map(\.isOpen) == [false, false, false] && done.values?["state"] == "ready")
                // The same feed, of which only the newest entries were ever replaced.
                #expect(done.feed === first.feed)
            }
            await other.close()
        }
    }

    @Test("Of calls that run side by side the first is in the transcript, and all are in the list")
    func calls() async throws {
        try await Self.withDesk { test, history in
            let talk = try await history.talk("Look")
            let calls = ["a", "b"].map { ToolCall(id: $0, name: "look-\($0)", input: [:]) }
            let asking = try await history.append(
                Message(.assistant, calls.map { .call($0) }), to: talk.id, after: talk.head)
            var noted: [CallEntry] = []
            for call in calls { noted.append(try await history.note(CallEntry(call, .running), in: talk.id)) }
            let stored = noted
            try await test.open("chat.conversation") { view in
                let running = try await Self.wait(view) { _ in true }
                #expect(running.entries.map(\.title) == [nil, "look-a"] && running.entries[1].isOpen)
                #expect(running.steps.map(\.state) == ["running", "running"])

                var second = stored[1]
                second.state = .done
                try await history.note(second, in: talk.id)
                let one = try await Self.next(view, test, after: .milliseconds(500)) {
                    $0.steps.map(\.state) == ["running", "done"]
                }
                #expect(one.entries.count == 2)

                var first = stored[0]
                first.state = .failed
                try await history.note(first, in: talk.id)
                let results = calls.map {
                    Message.Part.result(ToolResult(call: $0.id, content: "seen", isError: $0.id == "a"))
                }
                _ = try await history.append(Message(.tool, results), to: talk.id, after: asking.id)
                let both = try await Self.next(view, test, after: .milliseconds(500)) { $0.entries.count == 3 }
                #expect(both.entries.map(\.state) == [nil, "failed", "done"])
                #expect(both.entries.map(\.text) == ["Look", "seen", "seen"])
            }
        }
    }

    @Test("A branch is another transcript, and an answer that did not come is said to be so")
    func branch() async throws {
        try await Self.withDesk { test, history in
            let talk = try await history.talk("1", "2", "3")
            let second = try await history.entries(of: talk.id)[1].id
            try await test.open("chat.conversation") { view in
                let first = try await Self.wait(view) { $0.entries.count == 3 }
                let other = try await history.append(
                    Message(.user, "other"), to: talk.id, after: second, as: .branch)
                try await history.begin(in: talk.id, after: other.id).fail(OutOfOrder())
                view.refresh()
                let shown = try await Self.wait(view) { $0.entries.count == 4 }
                #expect(shown.entries.map(\.text) == ["1", "2", "other", "the till is stuck"])
                #expect(shown.entries[3].author == .notice && shown.entries[3].state == "failed")
                #expect(shown.feed !== first.feed)
            }
        }
    }

    @Test("Without a conversation the screen says what to do")
    func none() async throws {
        try await Self.withDesk { test, _ in
            let state = try await test.open("chat.conversation") { view in
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

extension History {
    /// A conversation of texts, alternating between user and assistant.
    fileprivate func talk(_ texts: String...) async throws -> Conversation {
        let conversation = try await create(ConversationSetup())
        var parent: MessageID?
        for (number, text) in texts.enumerated() {
            let role: Message.Role = number.isMultiple(of: 2) ? .user : .assistant
            parent = try await append(Message(role, text), to: conversation.id, after: parent).id
        }
        return try await self.conversation(conversation.id)
    }
}

extension Block {
    fileprivate var feed: Feed<Screens.Transcript.Entry>? {
        if case .transcript(let transcript) = content { return transcript.feed }
        return children.lazy.compactMap(\.feed).first
    }
    fileprivate var entries: [Screens.Transcript.Entry] { feed.map { Array($0.entries(from: 0).entries) } ?? [] }
    fileprivate var steps: [Timeline.Step] {
        if case .timeline(let timeline) = content { return timeline.steps }
        return children.flatMap(\.steps)
    }
    fileprivate var values: JSONObject? {
        if case .values(let values) = content { return values.values }
        return children.lazy.compactMap(\.values).first
    }
    fileprivate var composer: Composer? {
        if case .composer(let composer) = content { return composer }
        return children.lazy.compactMap(\.composer).first
    }
}
