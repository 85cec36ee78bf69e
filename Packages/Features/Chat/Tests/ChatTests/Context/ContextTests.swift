import Capabilities
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@Suite("Conversations longer than the context", .timeLimit(.minutes(5)))
struct ContextTests {
    /// A server whose model reads 4,000 tokens, half of them for the answer, and that answers summaries with a fixed
    /// word.
    private func withSmallModel(
        _ settings: String = "{}", summary: String = Answers.say("They spoke of a fox."),
        isolation: isolated (any Actor)? = #isolation, _ body: (inout Desk) async throws -> Void
    ) async throws {
        try await Desk.run { connection in
            let request = try connection.receiveRequest()
            guard request.method == "POST" else {
                return try connection.respond(
                    #"{"object":"list","data":[{"id":"small-1","context_length":4000}]}"#)
            }
            try connection.begin()
            let wantsSummary = request.said.first?.contains("Write down in at most") == true
            try connection.send(wantsSummary ? summary : Answers.say("Yes"))
        } _: { desk in
            desk.settings = settings
            try await body(&desk)
        }
    }

    private static let long = String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 70)

    /// Sends three long messages, the third of which is too much.
    private func talk(_ desk: Desk) async throws -> (last: TestResult, id: JSON) {
        let id = try #require(try await desk.say("one \(Self.long)", ["model": "small-1"])["session_id"])
        try await desk.say("two \(Self.long)", ["conversation": id, "model": "small-1"])
        return (try await desk.say("three \(Self.long)", ["conversation": id, "model": "small-1"]), id)
    }

    @Test("The oldest turns are left out, and the user and the model are told")
    func leftOut() async throws {
        try await withSmallModel { desk in
            let (done, _) = try await talk(desk)
            let last = try #require(desk.asked.last)
            #expect(desk.asked.count == 3)
            #expect(!last.said.contains { $0.contains("one The") } && last.last.contains("three The"))
            #expect(last.said.contains { $0.contains("earlier messages of this conversation are left out") })
            #expect(done.notices.contains("do not fit into the model's context and are left out"), "\(done.notices)")
        }
    }

    @Test("The same model summarises the old turns if configured, once")
    func summarised() async throws {
        try await withSmallModel("{chat: {context: 'summarise'}}") { desk in
            let (done, id) = try await talk(desk)
            #expect(done.notices.contains("and are summarised"), "\(done.notices)")
            #expect(desk.asked.count == 4, "\(desk.asked.map { $0.said.map { $0.prefix(60) } })")
            let (question, answered) = (desk.asked[2], desk.asked[3])
            #expect(question.json["model"] == "small-1" && question.last.contains("one The quick"))
            #expect(answered.said.contains { $0.contains("They spoke of a fox.") })
            #expect(!answered.said.contains { $0.contains("one The") })
            // The usage of the summary is in the sum: 9 for it and 9 for the answer.
            #expect(done["usage"]?["input_tokens"] == 18)
            #expect(try await desk.run("chat.usage").json[0]?["input_tokens"] == 36)
            // The next command reuses it.
            try await desk.say("four", ["conversation": id, "model": "small-1"])
            #expect(desk.asked.count == 5)
            #expect(desk.asked[4].said.contains { $0.contains("They spoke of a fox.") })
            // The next summary extends the earlier one.
            try await desk.say("five \(Self.long)", ["conversation": id, "model": "small-1"])
            #expect(desk.asked[5].last.hasPrefix("user: Summary of what was said before: They spoke of a fox."))
            #expect(desk.asked[5].last.contains("two The") && !desk.asked[5].last.contains("one The"))
        }
    }

    @Test("The oldest turns are left out if no summary can be made, with the reason")
    func noSummary() async throws {
        let broken = "data: \(Answers.error("no time for that"))\n\n"
        try await withSmallModel("{chat: {context: 'summarise'}}", summary: broken) { desk in
            let (done, _) = try await talk(desk)
            #expect(done["result"] == "Yes")
            #expect(done.notices.contains("are left out; no summary could be made"), "\(done.notices)")
            #expect(done.notices.contains("no time for that"))
        }
    }
}
