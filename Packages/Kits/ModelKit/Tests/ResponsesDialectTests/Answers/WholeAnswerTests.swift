import Capabilities
import JSON
import ModelKit
import ResponsesDialect
import Testing

@Suite("Whole answers and refusals")
struct WholeAnswerTests {
    @Test("A whole answer is read like a stream")
    func whole() throws {
        let body = #"""
            {"id":"resp_1","object":"response","status":"completed","error":null,"model":"gpt-5","output":[
            {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":null},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]},
            {"type":"function_call","call_id":"a","name":"read","arguments":"{\"x\":1}"}],
            "usage":{"input_tokens":3,"output_tokens":5}}
            """#
        var events: [ChatEvent] = []
        let answer = try ResponsesDialect().answer(in: Array(body.utf8), into: &events)
        let usage = Usage(inputTokens: 3, outputTokens: 5)
        let call = ToolCall(id: "a", name: "read", input: ["x": 1])
        let began = ChatEvent.began(ChatStart(id: "resp_1", model: "gpt-5"))
        #expect(
            events == [
                began, .usage(usage), .reasoning("hm"), .text("Hi"), .calling(id: "a", name: "read"), .call(call),
            ])
        // Reasoning that cannot be sent back is not sealed.
        #expect(answer.message.parts == [.reasoning(Reasoning("hm")), .text("Hi"), .call(call)])
        #expect(answer.finish == .calls && answer.usage == usage)
    }

    @Test("A whole answer can be an error with status 200, or not an answer at all")
    func failures() {
        func failure(_ body: String) -> String? {
            var events: [ChatEvent] = []
            return #expect(throws: DialectError.self) {
                try ResponsesDialect().answer(in: Array(body.utf8), into: &events)
            }?.code
        }
        #expect(failure(#"{"error":{"message":"no"}}"#) == "model.failed")
        #expect(
            failure(#"{"object":"response","status":"failed","error":{"message":"no"},"output":[]}"#) == "model.failed")
        #expect(failure("{}") == "model.malformed")
        #expect(failure("[]") == "model.malformed")
        #expect(failure("<html>") == "model.malformed")
    }

    @Test("An answer that is empty or has only reasoning is a valid answer")
    func empty() throws {
        var events: [ChatEvent] = []
        for output in ["[]", #"[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}]"#] {
            let body = #"{"object":"response","status":"completed","output":\#(output)}"#
            let answer = try ResponsesDialect().answer(in: Array(body.utf8), into: &events)
            #expect(answer.finish == .stop && answer.message.text.isEmpty)
        }
    }

    @Test("The message of a refusal is found, and a body without one is not a refusal")
    func refusals() {
        let body = #"{"error":{"message":"Bad","type":"invalid_request_error","param":"input","code":null}}"#
        let refusal = ServerRefusal(message: "Bad", type: "invalid_request_error", field: "input")
        #expect(ResponsesDialect().refusal(in: Array(body.utf8)) == refusal)
        #expect(ResponsesDialect().refusal(in: Array("<html>".utf8)) == nil)
    }
}
