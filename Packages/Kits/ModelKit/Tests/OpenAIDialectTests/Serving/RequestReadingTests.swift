import Capabilities
import JSON
import ModelKit
import OpenAIDialect
import Testing

@Suite("Request reading")
struct RequestReadingTests {
    @Test(
        "An invalid request is refused with its field",
        arguments: [
            ("{", nil, "invalid_json"),
            ("[]", nil, nil),
            ("{}", "messages", "missing_required_parameter"),
            (#"{"messages":null}"#, "messages", "missing_required_parameter"),
            (#"{"messages":[]}"#, "messages", "missing_messages"),
            (#"{"messages":"hi"}"#, "messages", "invalid_type"),
            (#"{"messages":["hi"]}"#, "messages[0]", "invalid_type"),
            (#"{"messages":[{"content":"hi"}]}"#, "messages[0].role", "missing_required_parameter"),
            (#"{"messages":[{"role":"robot","content":"hi"}]}"#, "messages[0].role", "invalid_value"),
            (#"{"messages":[{"role":"user"}]}"#, "messages[0].content", "missing_required_parameter"),
            (#"{"messages":[{"role":"user","content":5}]}"#, "messages[0].content", "invalid_type"),
            (
                #"{"messages":[{"role":"user","content":[{"type":"video"}]}]}"#, "messages[0].content[0].type",
                "invalid_value"
            ),
            (
                #"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"http://a/b"}]}]}"#,
                "messages[0].content[0].image_url", "invalid_value"
            ),
            (
                #"{"messages":[{"role":"tool","content":"x"}]}"#, "messages[0].tool_call_id",
                "missing_required_parameter"
            ),
            (
                #"{"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{}}]}]}"#,
                "messages[0].tool_calls[0].function.name", "missing_required_parameter"
            ),
            (#"{"messages":[{"role":"user","content":"x"}],"max_tokens":0}"#, "max_tokens", "invalid_value"),
            (#"{"messages":[{"role":"user","content":"x"}],"max_tokens":"5"}"#, "max_tokens", "invalid_type"),
            (#"{"messages":[{"role":"user","content":"x"}],"temperature":"hot"}"#, "temperature", "invalid_type"),
            (#"{"messages":[{"role":"user","content":"x"}],"stop":["a",1]}"#, "stop[1]", "invalid_type"),
            (#"{"messages":[{"role":"user","content":"x"}],"n":2}"#, "n", "invalid_value"),
            (#"{"messages":[{"role":"user","content":"x"}],"stream":1}"#, "stream", "invalid_type"),
            (
                #"{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"web"}]}"#, "tools[0].type",
                "invalid_value"
            ),
            (
                #"{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"xml"}}"#,
                "response_format.type", "invalid_value"
            ),
        ])
    func wrong(_ body: String, _ field: String?, _ code: String?) throws {
        let error = #expect(throws: DialectError.self) { try OpenAIRequest(parsing: Array(body.utf8)) }
        let refusal = try #require(error?.refusal)
        #expect(error?.kind == .malformed)
        #expect(refusal.field == field)
        #expect(refusal.code == code)
        #expect(refusal.type == "invalid_request_error")
        #expect(refusal.message.contains(field ?? "body"))
        // A body that was already parsed is judged the same.
        guard let parsed = try? JSON(parsing: Array(body.utf8)) else { return }
        let again = #expect(throws: DialectError.self) { try OpenAIRequest(parsed) }
        #expect(again?.refusal == refusal)
    }

    @Test("Null is the same as missing, and unknown members are kept")
    func patience() throws {
        let body = """
            {"model":null,"messages":[{"role":"user","content":"hi","name":"ada"},{"role":"assistant","content":null,
            "tool_calls":[{"id":"a","function":{"name":"x","arguments":{"b":1}}},{"id":"b","function":{"name":"y"}}]}],
            "temperature":null,"max_tokens":12.0,"stop":null,"tools":null,"stream":null,"n":1,"reasoning_effort":"xhigh",
            "mcp":{"enabled_servers":[]},"system_prompt":"s","gone":null}
            """
        let request = try OpenAIRequest(parsing: Array(body.utf8)).chat
        #expect(try OpenAIRequest(JSON(parsing: Array(body.utf8))).chat == request)
        #expect(request.model.isEmpty && !request.streams && request.options.maxTokens == 12)
        let calls = [ToolCall(id: "a", name: "x", input: ["b": 1]), ToolCall(id: "b", name: "y", input: [:])]
        #expect(request.messages[1] == Message(.assistant, calls.map(Message.Part.call)))
        #expect(
            request.extras == ["mcp": ["enabled_servers": []], "system_prompt": "s", "reasoning_effort": "xhigh"])
    }
}
