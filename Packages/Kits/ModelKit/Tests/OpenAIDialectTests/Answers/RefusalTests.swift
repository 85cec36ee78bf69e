import Capabilities
import DialectTesting
import ModelKit
import OpenAIDialect
import Testing

@Suite("Refusals")
struct RefusalTests {
    @Test(
        "The message is found in every envelope",
        arguments: [
            (
                #"{"error":{"message":"Bad key","type":"invalid_request_error","param":"p","code":"invalid_api_key"}}"#,
                ServerRefusal(message: "Bad key", type: "invalid_request_error", code: "invalid_api_key", field: "p")
            ),
            (
                #"{"error":{"code":402,"message":"No credit","metadata":{"raw":"broke"}},"user_id":"u"}"#,
                ServerRefusal(message: "No credit: broke", code: "402")
            ),
            (
                #"{"object":"error","message":"too long","type":"BadRequestError","param":null,"code":400}"#,
                ServerRefusal(message: "too long", type: "BadRequestError", code: "400")
            ),
            (#"{"error":"model 'x' not found"}"#, ServerRefusal(message: "model 'x' not found")),
            (#"{"detail":"Not Found"}"#, ServerRefusal(message: "Not Found")),
            (
                #"{"detail":[{"loc":["body","messages",0],"msg":"Field required","type":"missing"}]}"#,
                ServerRefusal(message: "body.messages.0: Field required")
            ),
            (
                #"{"error":{"message":"Validation error","type":"invalid_request_error","details":[{"loc":["a"],"msg":"b"}]}}"#,
                ServerRefusal(message: "Validation error: a: b", type: "invalid_request_error")
            ),
            (
                "data: {\"error\":{\"message\":\"budget\",\"code\":\"400\"}}\n\ndata: [DONE]\n\n",
                ServerRefusal(message: "budget", code: "400")
            ),
            ("Internal Server Error\n", ServerRefusal(message: "Internal Server Error")),
            (#"{"message":"Unauthorized"}"#, ServerRefusal(message: "Unauthorized")),
            (
                #"{"error":{"message":"No more:\n\n\tthe limit\r\nis reached"}}"#,
                ServerRefusal(message: "No more: the limit is reached")
            ),
        ])
    func envelopes(_ body: String, _ expected: ServerRefusal) {
        #expect(OpenAIDialect(.compatible).refusal(in: Array(body.utf8)) == expected)
    }

    @Test(
        "A body without a message is not a refusal",
        arguments: ["", "  ", "{}", "<html>502</html>", #"{"a":1}"#, #"{"detail":{}}"#])
    func nothing(_ body: String) {
        #expect(OpenAIDialect(.compatible).refusal(in: Array(body.utf8)) == nil)
    }

    @Test("Messages are escaped and limited, in streams too")
    func bounded() throws {
        let long = String(repeating: "\u{202E}x", count: 5000)
        let body = #"{"error":{"message":"\#(long)","type":"\#(long)","code":"\#(long)","param":"\#(long)"}}"#
        let refusal = try #require(OpenAIDialect(.compatible).refusal(in: Array(body.utf8)))
        for words in [refusal.message, refusal.type, refusal.code, refusal.field] {
            #expect(words?.unicodeScalars.count == 500)
            #expect(words?.hasPrefix(#"\u{202E}x\u{202E}x"#) == true)
        }
        #expect(try hear(data: [body]).reading.words == refusal.message)
    }

    @Test("A whole answer can be an error with status 200, empty, or not an answer at all")
    func wholeAnswers() throws {
        func failure(_ body: String) -> String? {
            var events: [ChatEvent] = []
            return #expect(throws: DialectError.self) {
                try OpenAIDialect(.compatible).answer(in: Array(body.utf8), into: &events)
            }?.code
        }
        #expect(failure(#"{"error":{"message":"no"}}"#) == "model.failed")
        #expect(failure(#"{"detail":"no"}"#) == "model.failed")
        #expect(failure(#"{"id":"a","choices":[{"message":{},"finish_reason":"error"}]}"#) == "model.failed")
        #expect(failure("{}") == "model.empty")
        #expect(failure("[]") == "model.malformed")
        #expect(failure("<html>") == "model.malformed")
    }

    @Test("An answer that is empty or has only reasoning is valid, except from an agent")
    func empty() throws {
        for message in [#"{"content":""}"#, #"{"reasoning_content":"hm"}"#] {
            let body = Array(#"{"id":"a","choices":[{"message":\#(message),"finish_reason":"stop"}]}"#.utf8)
            var events: [ChatEvent] = []
            let answer = try OpenAIDialect(.compatible).answer(in: body, into: &events)
            #expect(answer.finish == .stop && answer.message.text.isEmpty)
            let error = #expect(throws: DialectError.self) {
                try OpenAIDialect(.gateway).answer(in: body, into: &events)
            }
            #expect(error?.kind == .empty)
        }
    }

    @Test("A whole answer is read like a stream")
    func whole() throws {
        let body = """
            {"id":"x","object":"chat.completion","model":"claude","choices":[{"index":0,"message":{"role":"assistant",
            "content":"Hi","name":null,"reasoning":"hm","tool_calls":null,"tool_call_id":null},"finish_reason":null}],
            "usage":{"prompt_tokens":0,"completion_tokens":1,"total_tokens":1},"session_id":"s","project_id":"p"}
            """
        var events: [ChatEvent] = []
        let answer = try OpenAIDialect(.gateway).answer(in: Array(body.utf8), into: &events)
        let start = ChatStart(id: "x", model: "claude", session: "s", project: "p")
        let usage = Usage(inputTokens: 0, outputTokens: 1)
        #expect(events == [.began(start), .reasoning("hm"), .text("Hi"), .usage(usage)])
        #expect(answer.finish == .stop && answer.message.text == "Hi" && answer.usage == usage)
    }
}
