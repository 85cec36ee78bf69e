import AnthropicDialect
import Capabilities
import DialectTesting
import JSON
import ModelKit
import Testing

@Suite("Whole answers and refusals")
struct WholeAnswerTests {
    @Test("A whole answer in reply to a stream request is read like a stream")
    func whole() throws {
        let body = #"""
            {"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[
            {"type":"thinking","thinking":"hm","signature":"sig"},{"type":"text","text":"Hi"},
            {"type":"tool_use","id":"a","name":"read","input":{"x":1}},{"type":"tool_use","id":"b","name":"list","input":{}}],
            "stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":5,"cost":0.5}}
            """#
        var events: [ChatEvent] = []
        let answer = try AnthropicDialect().answer(in: Array(body.utf8), into: &events)
        let usage = Usage(inputTokens: 3, outputTokens: 5, cost: Cost(nanodollars: 500_000_000))
        let calls = [ToolCall(id: "a", name: "read", input: ["x": 1]), ToolCall(id: "b", name: "list", input: [:])]
        #expect(
            events == [
                .began(ChatStart(id: "msg_1", model: "claude")), .usage(usage), .reasoning("hm"),
                .thought(Reasoning("", signature: "sig")), .text("Hi"),
                .calling(id: "a", name: "read"), .call(calls[0]), .calling(id: "b", name: "list"), .call(calls[1]),
            ])
        #expect(
            answer.message.parts == [
                .reasoning(Reasoning("hm", signature: "sig")), .text("Hi"), .call(calls[0]), .call(calls[1]),
            ])
        #expect(answer.finish == .calls && answer.usage == usage)
    }

    @Test("A whole answer can be an error with status 200, or not an answer at all")
    func failures() {
        func failure(_ body: String) -> String? {
            var events: [ChatEvent] = []
            return #expect(throws: DialectError.self) {
                try AnthropicDialect().answer(in: Array(body.utf8), into: &events)
            }?.code
        }
        #expect(failure(#"{"type":"error","error":{"type":"api_error","message":"no"}}"#) == "model.failed")
        #expect(failure(#"{"detail":"no"}"#) == "model.failed")
        #expect(failure("{}") == "model.malformed")
        #expect(failure("[]") == "model.malformed")
        #expect(failure("<html>") == "model.malformed")
    }

    @Test("An answer that is empty or has only reasoning is a valid answer")
    func empty() throws {
        var events: [ChatEvent] = []
        for content in ["[]", #"[{"type":"thinking","thinking":"hm","signature":"s"}]"#] {
            let body = #"{"type":"message","content":\#(content),"stop_reason":"end_turn"}"#
            let answer = try AnthropicDialect().answer(in: Array(body.utf8), into: &events)
            #expect(answer.finish == .stop && answer.message.text.isEmpty)
        }
    }

    @Test(
        "The message of a refusal is found in every envelope",
        arguments: [
            (
                #"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"r"}"#,
                ServerRefusal(message: "invalid x-api-key", type: "authentication_error")
            ),
            (
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
                ServerRefusal(message: "Overloaded", type: "overloaded_error")
            ), ("Internal Server Error", ServerRefusal(message: "Internal Server Error")),
            (#"{"detail":"Not Found"}"#, ServerRefusal(message: "Not Found")),
        ])
    func envelopes(_ body: String, _ expected: ServerRefusal) {
        #expect(AnthropicDialect().refusal(in: Array(body.utf8)) == expected)
    }

    @Test("A body without a message is not a refusal", arguments: ["", "{}", "<html>502</html>", #"{"a":1}"#])
    func nothing(_ body: String) {
        #expect(AnthropicDialect().refusal(in: Array(body.utf8)) == nil)
    }

    @Test("Messages are escaped and limited, in streams too")
    func bounded() throws {
        let long = String(repeating: "\u{202E}x", count: 5000)
        let body = #"{"type":"error","error":{"message":"\#(long)","type":"\#(long)"}}"#
        let refusal = try #require(AnthropicDialect().refusal(in: Array(body.utf8)))
        #expect(refusal.message.unicodeScalars.count == 500 && refusal.type?.unicodeScalars.count == 500)
        #expect(try hear(data: [body]).reading.words == refusal.message)
    }
}
