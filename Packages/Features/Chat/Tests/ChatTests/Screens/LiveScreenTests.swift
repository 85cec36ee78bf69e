import Capabilities
import ChatHistory
import CoreTesting
import JSON
import Registry
import Screens
import Testing

@testable import Chat

@Suite("Screen of a conversation that this program writes", .timeLimit(.minutes(5)))
struct LiveScreenTests {
    /// Begins a conversation with a question, and lends its screen while the question is being answered.
    private static func ask(
        _ desk: ScreenDesk, _ question: String, _ arguments: JSONObject = [:],
        _ body: @escaping @Sendable (ConversationID, OpenScreen, Task<JSON, any Error>) async throws -> Void
    ) async throws {
        let id = try await desk.history.create(ConversationSetup()).id
        let sending = Task {
            try await desk.send(question, arguments.adding("conversation", .string(id.rawValue)))
        }
        try await desk.test.open("chat.conversation", ["conversation": .string(id.rawValue)]) { view in
            try await body(id, view, sending)
        }
    }

    @Test("An answer is seen before it is stored, in place, and is not shown twice at its end")
    func growing() async throws {
        try await ScreenDesk.run { desk in
            try await Self.ask(desk, "Which birds?") { id, view, sending in
                // The question is stored a moment before its answer begins.
                let first = try await desk.shown(view) {
                    $0.entries.map(\.text) == ["Which birds?"] && $0.values?["state"] == "answering"
                }
                let answer = desk.model["Which birds?"]
                try await answer.say("Swal")
                try await desk.isStored(id)
                let begun = desk.test.clock.now
                // The screen, and the draft that waits to be stored.
                let some = try await desk.shown(view, sleepers: 2) { $0.entries.last?.text == "Swal" }
                #expect(some.entries.map(\.isOpen) == [false, true])
                #expect(some.links.first?.title == "Rename", "nothing is sent again during an answer")

                try await answer.say("lows.")
                try await desk.shown(view, sleepers: 2) { $0.entries.last?.text == "Swallows." }
                // Fewer than 150 milliseconds have passed, after which the draft is stored again.
                #expect(begun.duration(to: desk.test.clock.now) < .milliseconds(150))
                #expect(try await desk.storedText(of: id) == "Swal")

                try await answer.end()
                _ = try await sending.value
                let done = try await desk.shown(view) { $0.values?["state"] == "ready" }
                #expect(done.entries.map(\.text) == ["Which birds?", "Swallows."])
                #expect(done.entries.allSatisfy { !$0.isOpen } && Set(done.entries.map(\.id)).count == 2)
                #expect(done.feed === first.feed && done.values?["answer_tokens"] == nil)
                #expect(done.links.first?.title == "Retry")
            }
        }
    }

    @Test("A stopped answer stays as far as it came, and nothing of it goes on")
    func stopped() async throws {
        try await ScreenDesk.run { desk in
            try await Self.ask(desk, "Count") { id, view, sending in
                try await desk.model["Count"].say("one")
                try await desk.isStored(id)
                try await desk.model["Count"].say(" two")
                try await desk.shown(view) { $0.entries.last?.text == "one two" }
                sending.cancel()
                _ = await sending.result
                let stopped = try await desk.shown(view) { $0.values?["state"] == "ready" }
                #expect(stopped.entries.map(\.text) == ["Count", "one two", "The answer was stopped."])
                #expect(stopped.entries.allSatisfy { !$0.isOpen })
            }
        }
    }

    @Test("An answer that breaks off says why, once")
    func failed() async throws {
        try await ScreenDesk.run { desk in
            try await Self.ask(desk, "Count") { id, view, sending in
                try await desk.model["Count"].say("one")
                try await desk.shown(view) { $0.entries.last?.text == "one" }
                try await desk.model["Count"].fail()
                await #expect(throws: (any Error).self) { try await sending.value }
                let failed = try await desk.shown(view) { $0.values?["state"] == "ready" }
                #expect(failed.entries.map(\.text) == ["Count", "one", "the till is stuck"])
                #expect(failed.entries.last?.state == "failed" && failed.entries.allSatisfy { !$0.isOpen })
            }
        }
    }

    @Test("Two answers at once are seen each on its own screen")
    func two() async throws {
        try await ScreenDesk.run { desk in
            try await Self.ask(desk, "A?") { first, view, sending in
                try await Self.ask(desk, "B?") { second, other, sendingToo in
                    let (a, b) = (desk.model["A?"], desk.model["B?"])
                    try await a.say("a")
                    try await b.say("b")
                    try await desk.isStored(first)
                    try await desk.isStored(second)
                    for number in 1...3 {
                        try await a.say("\(number)")
                        try await b.say("\(number)")
                    }
                    try await desk.shown(view) { $0.entries.map(\.text) == ["A?", "a123"] }
                    try await desk.shown(other) { $0.entries.map(\.text) == ["B?", "b123"] }
                    try await b.end()
                    _ = try await sendingToo.value
                    try await desk.shown(other) { $0.values?["state"] == "ready" }
                    #expect(view.state.block?.values?["state"] == "answering")
                    try await a.say("4")
                    try await desk.shown(view) { $0.entries.last?.text == "a1234" }
                    #expect(other.state.block?.entries.map(\.text) == ["B?", "b123"])
                    try await a.end()
                    _ = try await sending.value
                }
            }
        }
    }

    @Test("A screen that is opened in the middle of an answer shows all of it at once")
    func middle() async throws {
        try await ScreenDesk.run { desk in
            try await Self.ask(desk, "Which birds?") { id, _, sending in
                let answer = desk.model["Which birds?"]
                try await answer.say("Swal")
                try await desk.isStored(id)
                try await answer.say("lows")
                let shown = try await desk.test.open("chat.conversation") { view in try await view.block { _ in true } }
                #expect(shown.entries.map(\.text) == ["Which birds?", "Swallows"])
                #expect(shown.entries.last?.isOpen == true && shown.values?["answer_tokens"] == 6)
                try await answer.end()
                _ = try await sending.value
            }
        }
    }

    @Test("Ten thousand pieces in one frame are shown together")
    func coalesced() async throws {
        try await ScreenDesk.run { desk in
            try await Self.ask(desk, "Count") { id, view, sending in
                let answer = desk.model["Count"]
                try await answer.say("0")
                try await desk.isStored(id)
                let begun = try await desk.shown(view) { $0.entries.last?.text == "0" }
                let feed = try #require(begun.feed)
                let before = feed.version
                for number in 1...10_000 { try await answer.say(" \(number)") }
                let text = (0...10_000).map(String.init).joined(separator: " ")
                try await desk.shown(view) { $0.entries.last?.text == text }
                #expect(feed.version - before <= 3)
                try await answer.end()
                _ = try await sending.value
            }
        }
    }

    @Test("A secret is not shown before the rest of it tells that it is one")
    func secret() async throws {
        try await ScreenDesk.run { desk in
            desk.test.host.redactor.learn(Secret("open-sesame-1"), named: "door")
            try await Self.ask(desk, "Say it") { id, view, sending in
                let answer = desk.model["Say it"]
                try await answer.say("It is ")
                try await desk.isStored(id)
                try await answer.say("open-sesa")
                try await answer.say("me")
                for _ in 0..<3 {
                    let shown = try await desk.shown(view) { $0.entries.last?.text.hasPrefix("It is ") == true }
                    #expect(shown.entries.last?.text == "It is ")
                }
                try await answer.say("-1, and open-air.")
                try await desk.shown(view) { $0.entries.last?.text == "It is ‹redacted:door›, and open-air." }
                try await answer.end()
                _ = try await sending.value
            }
        }
    }

    @Test("A tool is seen with its input when it starts, with what it prints while it runs, and with its result")
    func tool() async throws {
        try await ScreenDesk.run { desk in
            try await Self.ask(desk, "Drill", ["tools": true]) { id, view, sending in
                let answer = desk.model["Drill"]
                try await answer.call(ToolCall(id: "c1", name: "drill", input: ["at": "wall"]))
                try await answer.end()
                let running = try await desk.shown(view) { $0.steps.map(\.state) == ["running"] }
                #expect(running.entries.last?.text == "{\"at\":\"wall\"}" && running.entries.last?.isOpen == true)
                #expect(running.entries.last?.state == "running")
                try await desk.model["drill"].say("brr\n")
                try await desk.shown(view) { $0.entries.last?.text == "{\"at\":\"wall\"}\n\nbrr\n" }
                try await desk.model["drill"].say("done\n")
                try await desk.shown(view) { $0.entries.last?.text == "{\"at\":\"wall\"}\n\nbrr\ndone\n" }
                try await desk.model["drill"].end()
                let ended = try await desk.shown(view) { $0.steps.map(\.state) == ["done"] }
                #expect(ended.entries.map(\.author) == [.person, .tool] && ended.entries.last?.state == "done")

                let last = desk.model["brr\ndone\n"]
                try await last.say("It is through.")
                try await last.end()
                _ = try await sending.value
                let all = try await desk.shown(view) { $0.values?["state"] == "ready" }
                #expect(
                    all.entries.map(\.text) == ["Drill", "{\"at\":\"wall\"}\n\nbrr\ndone\n", "It is through."])
                #expect(all.feed === running.feed)
            }
        }
    }

    @Test("The time goes on once a second while nothing arrives")
    func elapsed() async throws {
        try await ScreenDesk.run { desk in
            try await Self.ask(desk, "Which birds?") { id, view, sending in
                let answer = desk.model["Which birds?"]
                try await answer.say("Swallows")
                try await desk.isStored(id)
                try await desk.shown(view) { $0.entries.last?.text == "Swallows" }
                for second in 1...3 {
                    let shown = try await desk.shown(view) { $0.values?["elapsed"] == .string("\(second)s") }
                    #expect(shown.values?["answer_tokens"] == 6)
                }
                try await answer.end()
                _ = try await sending.value
            }
        }
    }
}
