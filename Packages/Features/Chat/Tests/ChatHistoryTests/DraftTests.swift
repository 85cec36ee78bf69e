import Capabilities
import ChatHistory
import CoreTesting
import Glibc
import StorageKit
import Testing

@Suite("Streamed answers", .timeLimit(.minutes(5)))
struct DraftTests {
    @Test("Arriving text is stored at once, and then every 150 milliseconds")
    func interval() async throws {
        let clock = TestClock()
        try await withHistory(clock: clock) { history in
            let chat = try await history.talk("Hello")
            let draft = history.begin(in: chat.id, after: chat.head, provider: "p", model: "m")
            draft.append([.began(ChatStart(id: "r1", model: "m-2")), .reasoning("Hm"), .text("One ")])
            await clock.waitForSleepers()
            let first = try await history.entries(of: chat.id)
            #expect(first[1].message.parts == [.reasoning(Reasoning("Hm")), .text("One ")])
            #expect(first[1].state == .streaming && first[1].model == "m" && first[1].parent == chat.head)
            for word in ["two ", "three "] { draft.append([.text(word)]) }
            #expect(try await history.entries(of: chat.id)[1].message.text == "One ", "the disk has a rest")
            clock.advance(by: .milliseconds(150))
            await clock.waitForSleepers()
            #expect(try await history.entries(of: chat.id)[1].message.text == "One two three ")
            #expect(try await history.found("three") == [], "what still grows is found once it is whole")
            #expect(try await history.count("pieces") == 2)
            draft.append([.text("four"), .usage(Usage(outputTokens: 4))])
            let usage = Usage(inputTokens: 1, outputTokens: 4)
            let entry = try await draft.finish(
                ChatAnswer(
                    start: ChatStart(id: "r1", model: "m-2"), message: Message(.assistant, "One two three four"),
                    finish: .stop, usage: usage))
            #expect(entry.state == .complete && entry.model == "m-2" && entry.provider == "p" && entry.usage == usage)
            #expect(entry.start?.id == "r1" && entry.finish == .stop && entry.message.text == "One two three four")
            #expect(try await history.entries(of: chat.id)[1] == entry)
            #expect(try await history.count("pieces") == 0)
            #expect(try await history.found("three").count == 1)
            let now = try await history.conversation(chat.id)
            #expect(now.preview == "One two three four" && now.usage == usage && now.head == entry.id)
        }
    }

    @Test("A stop and a failure keep what arrived, and the failure is never sent to a model")
    func endings() async throws {
        try await withHistory { history in
            let chat = try await history.talk("Hello")
            let stopped = history.begin(in: chat.id, after: chat.head)
            stopped.append([.reasoning("Without a proof"), .text("Half an ans"), .usage(Usage(outputTokens: 3))])
            let first = try await stopped.stop()
            #expect(first.state == .stopped && first.usage.outputTokens == 3)
            #expect(first.sent == Message(.assistant, "Half an ans"), "thoughts without their end are refused")
            let failed = history.begin(in: chat.id, after: first.id)
            let second = try await failed.fail(TestProblem("it broke"))
            #expect(second.state == .failed(code: "unexpected", message: "unexpected error: it broke"))
            #expect(second.message.parts == [] && second.sent == nil)
            let cut = history.begin(in: chat.id, after: second.id)
            #expect(try await cut.finish(answer("x", finish: .length)).state == .truncated)
            let given = history.begin(in: chat.id, after: second.id)
            given.append([.text("ignored")])
            #expect(try await given.stop(Message(.assistant, "given")).message.text == "given")
            #expect(
                try await history.entries(of: chat.id).map(\.state) == [.complete, .stopped, second.state, .truncated])
            #expect(try await history.entries(of: chat.id)[1...] == [first, second, history.entries(of: chat.id)[3]])
        }
    }

    @Test("A signed thought is stored whole even if a part was stored before, and unsigned if it held a secret")
    func thoughts() async throws {
        let redactor = Redactor()
        redactor.learn(Secret("the-known-secret"), named: "lab")
        for (words, isClean) in [(["Let ", "me ", "see"], true), (["Let the-known", "-secret ", "be"], false)] {
            let clock = TestClock()
            try await withFolder { folder in
                let days = Days()
                let history = History("\(folder)/chat.db", without: redactor, clock: clock, now: { days.next })
                let chat = try await history.talk("Hello")
                let draft = history.begin(in: chat.id, after: chat.head)
                var isBegun = false
                func store(_ events: [ChatEvent]) async throws -> Entry? {
                    draft.append(events)
                    if isBegun { clock.advance(by: .milliseconds(150)) }
                    isBegun = true
                    await clock.waitForSleepers()
                    return try await history.entries(of: chat.id).last
                }
                for word in words {
                    #expect(try await store([.reasoning(word)])?.sent == nil, "a thought without its end")
                }
                let proof = ChatEvent.thought(Reasoning("", signature: "proof"))
                let other = ChatEvent.thought(Reasoning("", sealed: "other"))
                _ = try await store([proof, other, .reasoning("And"), .text("Hi")])
                // Read as after a crash, because its end was not stored.
                let parts = try await history.entries(of: chat.id).last?.message.parts ?? []
                let whole = Message.Part.reasoning(Reasoning(words.joined(), signature: "proof"))
                let rest: [Message.Part] = [
                    .reasoning(Reasoning("", sealed: "other")), .reasoning(Reasoning("And")), .text("Hi"),
                ]
                if isClean {
                    #expect(parts == [whole] + rest)
                } else {
                    #expect(!parts.contains(whole) && parts.suffix(3) == rest[...])
                    #expect(!"\(parts)".contains("proof"))
                }
                try await draft.stop()
                await history.close()
            }
        }
    }

    @Test("A draft ends in a cancelled task too, ends once, and accepts nothing after that")
    func cancelled() async throws {
        try await withHistory { history in
            let chat = try await history.talk("Hello")
            let draft = history.begin(in: chat.id, after: chat.head)
            draft.append([.text("Some")])
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await draft.stop()
            }
            task.cancel()
            let entry = try await task.value
            #expect(entry.message.text == "Some" && entry.state == .stopped)
            draft.append([.text("more")])
            #expect(try await draft.finish(answer("Other", usage: Usage(inputTokens: 5))) == entry)
            #expect(try await history.conversation(chat.id).usage == Usage())
            #expect(try await history.texts(chat.id) == ["Hello", "Some"])
        }
    }

    @Test("A draft in a conversation that has changed becomes a branch")
    func branch() async throws {
        try await withHistory { history in
            let chat = try await history.talk("Hello")
            let (one, two) = (
                history.begin(in: chat.id, after: chat.head), history.begin(in: chat.id, after: chat.head)
            )
            one.append([.text("a")])
            two.append([.text("b")])
            let ended = [try await one.stop(), try await two.stop()]
            #expect(Set(ended.map(\.isBranch)) == [true, false])
            let winner = try #require(ended.first { !$0.isBranch })
            #expect(try await history.texts(chat.id) == ["Hello", winner.message.text])
        }
    }

    @Test("A large streamed result is stored separately, and is removed with an answer that lacks it")
    func blobs() async throws {
        let clock = TestClock()
        try await withHistory(clock: clock) { history in
            let chat = try await history.talk("Hello")
            let draft = history.begin(in: chat.id, after: chat.head)
            let result = ToolResult(call: "1", content: String(repeating: "x", count: 50_000))
            draft.append([.result(result)])
            await clock.waitForSleepers()
            #expect(try await history.entries(of: chat.id)[1].message.parts == [.result(result)])
            #expect(try await history.count("message_blobs") == 1)
            try await draft.finish(answer("Done"))
            #expect(try await history.count("message_blobs") == 0)
            #expect(try await history.texts(chat.id) == ["Hello", "Done"])
        }
    }

    @Test("200,000 pieces cost no more than their text")
    func many() async throws {
        try await withHistory { history in
            let chat = try await history.talk("Hello")
            let draft = history.begin(in: chat.id, after: chat.head)
            for _ in 0..<200_000 { draft.append([.text("0123456789")]) }
            let entry = try await draft.stop()
            #expect(entry.message.text.utf8.count == 2_000_000)
        }
    }

    @Test("A signed thought is whole after the disk was full in the middle of it")
    func fullThought() async throws {
        try await withFolder { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                signal(SIGXFSZ, SIG_IGN)
                let clock = TestClock()
                let days = Days()
                let history = History("\(folder)/chat.db", clock: clock, now: { days.next })
                let chat = try await history.talk("Hello")
                let draft = history.begin(in: chat.id, after: chat.head)
                draft.append([.reasoning("One ")])
                await clock.waitForSleepers()
                try limitFiles(1)
                draft.append([.reasoning("two ")])
                clock.advance(by: .milliseconds(150))
                await clock.waitForSleepers()
                draft.append([.reasoning("three"), .thought(Reasoning("", signature: "proof"))])
                try limitFiles(.max)
                clock.advance(by: .milliseconds(150))
                await clock.waitForSleepers()
                let parts = try await history.entries(of: chat.id).last?.message.parts
                #expect(parts == [.reasoning(Reasoning("One two three", signature: "proof"))])
                try await draft.stop()
                await history.close()
            }
        }
    }

    @Test("A full disk does not stop the answer, and its end reports the failure once")
    func full() async throws {
        try await withFolder { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                signal(SIGXFSZ, SIG_IGN)
                let clock = TestClock()
                let days = Days()
                let history = History("\(folder)/chat.db", clock: clock, now: { days.next })
                let chat = try await history.talk("Hello")
                let draft = history.begin(in: chat.id, after: chat.head)
                draft.append([.text("stored ")])
                await clock.waitForSleepers()
                try limitFiles(1)
                for _ in 0..<3 {
                    draft.append([.text(String(repeating: "unsaved ", count: 100))])
                    clock.advance(by: .milliseconds(150))
                    await clock.waitForSleepers()
                }
                let whole = answer("stored " + String(repeating: "unsaved ", count: 300))
                let error = try await failure { try await draft.finish(whole) }
                #expect(error.kind == .notSaved && (error.cause as? StorageError)?.kind == .full)
                #expect(error.message.contains("no space left for"))
                #expect(try await history.texts(chat.id) == ["Hello", "stored "])
                #expect(try await history.entries(of: chat.id).last?.state == .interrupted, "nobody writes it now")
                try limitFiles(.max)
                #expect(try await draft.finish(whole).message == whole.message, "it can be tried again")
                #expect(try await history.texts(chat.id) == ["Hello", whole.message.text])
                #expect(try await history.database.check() == [])
                await history.close()
            }
        }
    }

    @Test("Everything is stored when space becomes free during the stream")
    func fullForAWhile() async throws {
        try await withFolder { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                signal(SIGXFSZ, SIG_IGN)
                let clock = TestClock()
                let days = Days()
                let history = History("\(folder)/chat.db", clock: clock, now: { days.next })
                let chat = try await history.talk("Hello")
                try limitFiles(1)
                let draft = history.begin(in: chat.id, after: chat.head)
                draft.append([.text("one ")])
                await clock.waitForSleepers()
                draft.append([.text("two ")])
                try limitFiles(.max)
                clock.advance(by: .milliseconds(150))
                await clock.waitForSleepers()
                #expect(try await history.texts(chat.id) == ["Hello", "one two "])
                #expect(try await draft.stop().message.text == "one two ")
                await history.close()
            }
        }
    }
}

/// The maximum size of files that this process writes.
private func limitFiles(_ size: rlim_t) throws {
    var limit = rlimit(rlim_cur: size, rlim_max: rlim_t.max)
    try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
}
