import Capabilities
import HTTPCore
import HTTPTesting
import JSON
import Registry
import Testing

@Suite("An answer that does not come to its end", .timeLimit(.minutes(5)))
struct FailureTests {
    @Test("because the server broke is kept as far as it came, and marked")
    func midst() async throws {
        try await Desk.run(
            answers: Answers.first + Answers.piece("Hel") + "data: \(Answers.error("the engine broke"))\n\n",
            Answers.say("Again")
        ) { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.failure?.message.contains("the engine broke") == true)
            // What comes behind it begins a line.
            #expect(done.heard.text == "Hel\n")
            let stored = try await desk.stored()
            #expect(stored.count == 2 && stored[1].hasPrefix("assistant: Hel (failed: "), "\(stored)")
            #expect(desk.asked.count == 1)
            // The reason is ours and no part of what was said.
            try await desk.say("Go on", ["continue": true])
            #expect(desk.asked[1].said.dropFirst() == ["user: Hi", "assistant: Hel", "user: Go on"])
            #expect(!String(decoding: desk.asked[1].body, as: UTF8.self).contains("broke"))
        }
    }

    @Test("because the connection was cut is kept as far as it came, and marked")
    func cut() async throws {
        try await Desk.run(answers: Answers.first + Answers.piece("Hel")) { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.failure != nil && done.exit != .done)
            let stored = try await desk.stored()
            #expect(stored.count == 2 && stored[1].hasPrefix("assistant: Hel (failed: "), "\(stored)")
        }
    }

    @Test("because it was refused is marked, and the refusal is never sent to a model")
    func refused() async throws {
        try await Desk.run { connection in
            connection.number == 0
                ? try connection.reply(Answers.error("bad key"), status: 401)
                : try connection.stream(Answers.say("Hello"))
        } _: { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.exit == .denied)
            #expect(done.failure?.message.contains(Desk.key) == false)
            let stored = try await desk.stored()
            #expect(stored.count == 2 && stored[1].hasPrefix("assistant:  (failed: "), "\(stored)")
            try await desk.say("Now?", ["continue": true])
            #expect(!desk.asked[1].said.contains { $0.hasPrefix("assistant") })
            #expect(desk.asked[1].last.hasSuffix("Now?"))
        }
    }

    @Test("is none because nothing is in the answer, as models end after tools")
    func empty() async throws {
        try await Desk.run(answers: Answers.first + Answers.end) { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.failure == nil && done.exit == .done && done["result"] == "")
        }
    }

    @Test("is asked for again where nothing was seen of it and the server says when")
    func again() async throws {
        try await Desk.run { connection in
            connection.number == 0
                ? try connection.reply(Answers.error("slowly"), status: 429, headers: "Retry-After: 0\r\n")
                : try connection.stream(Answers.say("Hello"))
        } _: { desk in
            let done = try await desk.say("Hi")
            #expect(done.heard.text == "Hello")
            #expect(desk.asked.count == 2)
            #expect(try await desk.stored() == ["user: Hi", "assistant: Hello"])
        }
    }

    @Test("because the person stopped it is kept as far as it came, marked, and let go of at the server")
    func stopped() async throws {
        try await Desk.run { connection in
            guard connection.number == 0 else { return try connection.stream(Answers.say("Better")) }
            try connection.stream(Answers.first + Answers.piece("Hel"))
            try connection.stall()
        } _: { desk in
            let heard = Heard()
            let task = Task { [desk] in try await desk.attempt("chat.send", ["message": "Hi"], heard: heard) }
            await heard.wait(for: "Hel")
            task.cancel()
            let done = try await task.value
            #expect(done.exit == .interrupted)
            try await desk.server.until { $0.connections.first?.peerLeft == true }
            #expect(try await desk.stored() == ["user: Hi", "assistant: Hel (stopped)"])
            try await desk.say("Go on", ["continue": true])
            #expect(desk.asked[1].said.dropFirst() == ["user: Hi", "assistant: Hel", "user: Go on"])
        }
    }

    @Test("because nobody reads on is kept as far as it came, and let go of at the server")
    func readerLeft() async throws {
        try await Desk.run { connection in
            try connection.stream(Answers.first + Answers.piece("Hel"))
            try connection.stall()
        } _: { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"], heard: Heard(leaves: true))
            #expect(done.failure?.code == "test.reader-left")
            try await desk.server.until { $0.connections.first?.peerLeft == true }
            #expect(try await desk.stored() == ["user: Hi", "assistant: Hel (stopped)"])
        }
    }

    @Test("because it is endless can be stopped, and is kept")
    func endless() async throws {
        try await Desk.run { connection in
            try connection.stream(Answers.first)
            try connection.sendEndlessly(Array(Answers.piece("more and more ").utf8))
        } _: { desk in
            let heard = Heard()
            let task = Task { [desk] in try await desk.attempt("chat.send", ["message": "Hi"], heard: heard) }
            await heard.wait(for: "more and more more")
            task.cancel()
            let exit = try await task.value.exit
            #expect(exit == .interrupted)
            let stored = try await desk.stored()
            #expect(stored.count == 2 && stored[1].hasSuffix("(stopped)"))
            // The stop may come between what is heard and what is kept, so that either may be a little longer.
            let kept = stored[1].dropFirst("assistant: ".count).dropLast(" (stopped)".count)
            let count = min(kept.count, heard.text.count, 1000)
            #expect(count > 10 && kept.prefix(count) == heard.text.prefix(count))
        }
    }
}
