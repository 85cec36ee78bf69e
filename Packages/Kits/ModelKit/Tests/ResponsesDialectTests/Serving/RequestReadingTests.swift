import Capabilities
import JSON
import ModelKit
import ResponsesDialect
import Testing

@Suite("Request reading")
struct RequestReadingTests {
    @Test(
        "An invalid request is refused with its field",
        arguments: [
            ("{", nil), ("[]", nil), (#"{"model":"m"}"#, "input"), (#"{"input":[]}"#, "input"),
            (#"{"input":5}"#, "input"), (#"{"input":[{"content":"a"}]}"#, "input[0].role"),
            (#"{"input":[{"type":"item_reference","id":"a"}]}"#, "input[0].type"),
            (#"{"input":[{"type":"function_call","name":"a"}]}"#, "input[0].call_id"),
            (#"{"input":[{"role":"user","content":[{"type":"film"}]}]}"#, "input[0].content[0].type"),
            (
                #"{"input":[{"role":"user","content":[{"type":"input_image","image_url":"http://a"}]}]}"#,
                "input[0].content[0].image_url"
            ), (#"{"input":"a","previous_response_id":"r"}"#, "previous_response_id"),
            (#"{"input":"a","background":true}"#, "background"),
            (#"{"input":"a","max_output_tokens":0}"#, "max_output_tokens"),
            (#"{"input":"a","tools":[{"type":"web_search"}]}"#, "tools[0].type"),
            (#"{"input":"a","text":{"format":{"type":"xml"}}}"#, "text.format.type"),
        ] as [(String, String?)])
    func wrong(_ body: String, _ field: String?) throws {
        let error = #expect(throws: DialectError.self) { try ResponsesRequest(parsing: Array(body.utf8)) }
        #expect(error?.kind == .malformed)
        #expect(error?.refusal?.field == field)
        #expect(error?.refusal?.message.contains(field ?? "body") == true)
    }

    @Test("Null is the same as missing, items of one side are one message, and unknown members are kept")
    func patience() throws {
        let body = #"""
            {"model":null,"instructions":null,"input":[{"role":"developer","content":"s"},{"role":"user","content":"hi"},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]},
            {"type":"function_call","call_id":"a","name":"x","arguments":"{"},
            {"type":"function_call","call_id":"b","name":"y"},
            {"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"bad"}]},
            {"type":"function_call_output","call_id":"b","output":null}],"max_output_tokens":12.0,"tools":null,
            "text":{"format":{"type":"text"}},"reasoning":{"effort":null},"truncation":"auto","gone":null}
            """#
        let chat = try ResponsesRequest(parsing: Array(body.utf8)).chat
        let roles = chat.messages.map(\.role)
        #expect(roles == [.system, .user, .assistant, .tool])
        #expect(
            chat.messages[2].parts.count == 3 && chat.messages[2].calls == [ToolCall(id: "b", name: "y", input: [:])])
        #expect(chat.messages[3].parts.count == 2 && chat.options.maxTokens == 12 && !chat.streams)
        #expect(chat.schema == nil && chat.extras == ["truncation": "auto"])
    }
}
