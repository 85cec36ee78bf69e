import Capabilities
import DialectTesting
import HTTPCore
import HTTPServer
import JSON
import ModelKit
import OpenAIDialect
import Testing

@Suite("Our answers in the vendor's library", .timeLimit(.minutes(5)))
struct VendorReadsOursTests {
    @Test("The vendor's library reads our streams and whole answers unchanged")
    func answers() async throws {
        let written = Spoken.all
        let route = Route(
            .post, "/{number}/{form}/chat/completions", "chat", "An answer", .path("number", "Which", as: Int.self),
            .path("form", "How"), .upload("The request")
        ) { _, number, form, request in
            _ = try await request.bytes()
            let spoken = written[number]
            guard form == "stream" else { return HTTPAnswer.json(JSON.object(spoken.reply)) }
            let frames = spoken.frames()
            return HTTPAnswer.events { events in
                for frame in frames { try await events.send(ServerSentEvent(data: frame)) }
            }
        }
        try await VendorPeer.withServer([route]) { url in
            let cases = written.indices.flatMap { [("\($0)/stream", true), ("\($0)/whole", false)] }
            let theirs = try await VendorPeer.read(
                cases.map { (path: $0.0, streams: $0.1) }, at: url, with: "openai_read.py")
            for (place, told) in theirs.enumerated() {
                let said = Reading(written[place / 2].answer)
                let name = "\(written[place / 2].name), \(cases[place].0)"
                #expect(told["text"] == .string(said.text), "\(name)")
                #expect(told["reasoning"] == .string(said.reasoning), "\(name)")
                #expect(told["refusal"] == .string(said.refusal), "\(name)")
                let calls = (said.calls + said.badCalls).map { JSON.string($0.replacing(", done", with: "")) }
                #expect(told["calls"] == .array(calls), "\(name)")
                let usage: [JSON]? = said.usage.inputTokens.map { [.int($0), .int(said.usage.outputTokens ?? -1)] }
                #expect(told["usage"]?.array == usage, "\(name)")
                #expect(told["finish"] == .string(written[place / 2].word), "\(name)")
                #expect(told["error"]?.isNull == true, "\(name)")
            }
        }
    }
}
