import Capabilities
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@testable import Chat

@Suite("Notices about an answer", .timeLimit(.minutes(5)))
struct TellingTests {
    private static let reasons = [
        "length": "cut off at its token limit", "content_filter": "withheld", "abort": "ended early: abort",
    ]

    @Test(
        "An incomplete answer is reported, on a terminal and elsewhere",
        arguments: ["length", "content_filter", "abort"],
        [false, true])
    func shortfall(reason: String, isWatched: Bool) async throws {
        let words = try #require(Self.reasons[reason])
        try await Desk.run(answers: Answers.first + Answers.piece("Hel") + Answers.end(by: reason)) { desk in
            desk.isWatched = isWatched
            let done = try await desk.say("Hi")
            #expect(done.output.shown.hasPrefix("Hel\n["), "\(done.output.shown)")
            #expect(done.notices.contains(words), "\(done.notices)")
        }
    }

    @Test("A complete answer has no notice if nobody watches")
    func whole() async throws {
        try await Desk.run(answers: Answers.say("Hello")) { desk in
            let done = try await desk.say("Hi")
            #expect(done.output.shown == "Hello")
        }
    }

    @Test("A terminal shows the time, the tokens and the cost")
    func footer() async throws {
        try await Desk.run(answers: Answers.say("Hello")) { desk in
            desk.isWatched = true
            let done = try await desk.say("Hi", ["model": "openai/gpt-5-mini"])
            #expect(done.output.text == "Hello\n")
            let footer = try #require(done.output.notices.last)
            #expect(footer.contains(" · 9 in · 2 out · "), "\(footer)")
            #expect(footer.hasSuffix("under $0.0001"), "\(footer)")
        }
    }

    @Test("Numbers are shortened")
    func numbers() {
        #expect([950, 1000, 1250, 34_500, 1_200_000].map(TurnReport.count) == ["950", "1k", "1.2k", "34k", "1.2M"])
        #expect(Cost(nanodollars: 4_100_000).words == "$0.0041")
        #expect(Cost(nanodollars: 1_200_000_000).words == "$1.20")
        #expect(Cost(nanodollars: 120_000_000).words == "$0.12")
        #expect(Cost(nanodollars: 9).words == "under $0.0001")
    }

    @Test("A terminal shows that the model is reasoning, and how much")
    func thoughts() async throws {
        let answer = Answers.first + Answers.think("so so so ") + Answers.piece("Yes") + Answers.end
        for isWatched in [false, true] {
            try await Desk.run(answers: answer) { desk in
                desk.isWatched = isWatched
                let done = try await desk.say("Hi", ["model": "openai/small"])
                #expect(done.output.activities.contains("small is thinking, 3 words so far") == isWatched)
            }
        }
    }

    @Test("A terminal shows which model is awaited, also if the server chooses the model")
    func waiting() async throws {
        try await Desk.run(answers: Answers.say("Hello"), Answers.say("Hello")) { desk in
            #expect(try await desk.say("Hi", ["model": "openai/small"]).output.activities.contains("waiting for small"))
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            let done = try await desk.say("Hi", ["model": "gateway"])
            #expect(done.output.activities.contains("waiting for gateway"), "\(done.output.activities)")
        }
    }

    @Test("Text of successive rounds is separated")
    func rounds() async throws {
        let call = Answers.call("shop_stock", input: ["thing": "nails"]).dropFirst(Answers.first.count)
        try await Desk.run(answers: Answers.first + Answers.piece("Let me look.") + call, Answers.say("Seven.")) {
            desk in
            let done = try await desk.say("How many nails?", ["tools": true])
            #expect(done.output.text == "Let me look.\n\nSeven.")
            #expect(done["result"] == "Seven.")
            let deltas = done.output.events.compactMap { $0.fields["delta"]?.string }
            #expect(deltas == ["Let me look.", "Seven."])
        }
    }

    @Test("Text is separated by a tool call, but not in the middle of a sentence")
    func paragraphs() {
        func text(_ pieces: String..., round: Bool = false) -> String {
            var paragraphs = Paragraphs()
            return pieces.map { piece in
                defer { if round { paragraphs.beginRound() } else { paragraphs.beginBlock() } }
                return paragraphs.take(piece)
            }.joined()
        }
        #expect(text("One.", "Two.") == "One.\n\nTwo.")
        #expect(text("One", " and two.") == "One and two.")
        #expect(text("One.", "\n\nTwo.") == "One.\n\nTwo.")
        #expect(text("One.\n", "Two.", round: true) == "One.\n\nTwo.")
        #expect(text("One.\n\n", "Two.", round: true) == "One.\n\nTwo.")
        #expect(text("", "Two.", round: true) == "Two.")
        let parts: [Message.Part] = [.text("One."), .call(ToolCall(id: "1", name: "x", input: [:])), .text("Two.")]
        #expect(Message(.assistant, parts).blocks == "One.\n\nTwo.")
    }
}
