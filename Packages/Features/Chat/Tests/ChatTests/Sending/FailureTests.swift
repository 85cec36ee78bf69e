import Capabilities
import CoreTesting
import HTTPCore
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@Suite("Incomplete answers", .timeLimit(.minutes(5)))
struct FailureTests {
    @Test("An answer of a failing server is kept as far as it came, and marked")
    func midst() async throws {
        try await Desk.run(
            answers: Answers.first + Answers.piece("Hel") + "data: \(Answers.error("the engine broke"))\n\n",
            Answers.say("Again")
        ) { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.failure?.message.contains("the engine broke") == true)
            // The next output begins a new line.
            #expect(done.output.text == "Hel\n")
            let stored = try await desk.stored()
            #expect(stored.count == 2 && stored[1].hasPrefix("assistant: Hel (failed: "), "\(stored)")
            #expect(desk.asked.count == 1)
            // The error is ours and not a part of the messages.
            try await desk.say("Go on", ["continue": true])
            #expect(desk.asked[1].said.dropFirst() == ["user: Hi", "assistant: Hel", "user: Go on"])
            #expect(!String(decoding: desk.asked[1].body, as: UTF8.self).contains("broke"))
        }
    }

    @Test("An answer of a cut connection is kept as far as it came, and marked")
    func cut() async throws {
        try await Desk.run(answers: Answers.first + Answers.piece("Hel")) { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.failure != nil && done.exit != .done)
            let stored = try await desk.stored()
            #expect(stored.count == 2 && stored[1].hasPrefix("assistant: Hel (failed: "), "\(stored)")
        }
    }

    @Test("A refused answer is marked, and the refusal is never sent to a model")
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

    @Test("An empty answer is not a failure, because models may end so after tools")
    func empty() async throws {
        try await Desk.run(answers: Answers.first + Answers.end) { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.failure == nil && done.exit == .done && done["result"] == "")
        }
    }

    @Test("An answer is requested again if nothing arrived and the server says when")
    func again() async throws {
        try await Desk.run { connection in
            connection.number == 0
                ? try connection.reply(Answers.error("slowly"), status: 429, headers: "Retry-After: 0\r\n")
                : try connection.stream(Answers.say("Hello"))
        } _: { desk in
            let done = try await desk.say("Hi")
            #expect(done.output.text == "Hello")
            #expect(desk.asked.count == 2)
            #expect(try await desk.stored() == ["user: Hi", "assistant: Hello"])
        }
    }

    @Test("A stopped answer is kept as far as it came, marked, and ended at the server")
    func stopped() async throws {
        try await Desk.run { connection in
            guard connection.number == 0 else { return try connection.stream(Answers.say("Better")) }
            try connection.stream(Answers.first + Answers.piece("Hel"))
            try connection.stall()
        } _: { desk in
            let heard = RecordingOutput()
            let task = Task { [desk] in try await desk.attempt("chat.send", ["message": "Hi"], to: heard) }
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

    @Test("An answer nobody reads any more is kept as far as it came, and ended at the server")
    func readerLeft() async throws {
        try await Desk.run { connection in
            try connection.stream(Answers.first + Answers.piece("Hel"))
            try connection.stall()
        } _: { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"], to: RecordingOutput(leaves: true))
            #expect(done.failure?.code == "test.reader-left")
            try await desk.server.until { $0.connections.first?.peerLeft == true }
            #expect(try await desk.stored() == ["user: Hi", "assistant: Hel (stopped)"])
        }
    }

    @Test("An endless answer can be stopped and is kept")
    func endless() async throws {
        try await Desk.run { connection in
            try connection.stream(Answers.first)
            try connection.sendEndlessly(Array(Answers.piece("more and more ").utf8))
        } _: { desk in
            let heard = RecordingOutput()
            let task = Task { [desk] in try await desk.attempt("chat.send", ["message": "Hi"], to: heard) }
            await heard.wait(for: "more and more more")
            task.cancel()
            let exit = try await task.value.exit
            #expect(exit == .interrupted)
            let stored = try await desk.stored()
            #expect(stored.count == 2 && stored[1].hasSuffix("(stopped)"))
            // The stop may fall between showing and storing, so either may be a little longer.
            let kept = stored[1].dropFirst("assistant: ".count).dropLast(" (stopped)".count)
            let count = min(kept.count, heard.text.count, 1000)
            #expect(count > 10 && kept.prefix(count) == heard.text.prefix(count))
        }
    }
}
