import AnthropicDialect
import Capabilities
import JSON
import ModelKit
import Testing

@Suite("Request reading")
struct RequestReadingTests {
    @Test(
        "An invalid request is refused with its field",
        arguments: [
            ("{", nil), ("[]", nil), (#"{"model":"m"}"#, "messages"), (#"{"messages":[]}"#, "messages"),
            (#"{"messages":{}}"#, "messages"), (#"{"messages":[{"content":"a"}]}"#, "messages[0].role"),
            (#"{"messages":[{"role":"tool","content":"a"}]}"#, "messages[0].role"),
            (#"{"messages":[{"role":"user","content":5}]}"#, "messages[0].content"),
            (#"{"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"any_of"}}"#, "tool_choice.type"),
            (
                #"{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"!"}}]}]}"#,
                "messages[0].content[0].source.data"
            ),
            (#"{"messages":[{"role":"user","content":"a"}],"max_tokens":0}"#, "max_tokens"),
            (#"{"messages":[{"role":"user","content":"a"}],"tools":[{"name":"b"}]}"#, "tools[0].input_schema"),
            (#"{"messages":[{"role":"user","content":"a"}],"stream":"yes"}"#, "stream"),
        ] as [(String, String?)])
    func wrong(_ body: String, _ field: String?) throws {
        let error = #expect(throws: DialectError.self) { try AnthropicRequest(parsing: Array(body.utf8)) }
        #expect(error?.kind == .malformed)
        #expect(error?.refusal?.field == field)
        #expect(error?.refusal?.type == "invalid_request_error")
        #expect(error?.refusal?.message.contains(field ?? "body") == true)
    }

    @Test("Server-side tools and citations are left out for other dialects, and named")
    func dropped() throws {
        let body = #"""
            {"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[
            {"type":"mcp_tool_use","id":"mcptoolu_1","name":"look","server_name":"s","input":{}},
            {"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":false,"content":[]},
            {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},
            {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},
            {"type":"text","text":"Rain.","citations":[{"type":"char_location","cited_text":"rain"}]},
            {"type":"text","text":" Snow.","citations":[]}]},{"role":"user","content":"and?"}],"top_k":3}
            """#
        let read = try AnthropicRequest(parsing: Array(body.utf8))
        for target in [RequestDialect.openai, .responses] {
            var request = read.chat
            request.native = read.native
            let dropped = try TranslationTable.translate(&request, to: target)
            #expect(
                dropped == [
                    "messages[1].content[0]", "messages[1].content[1]", "messages[1].content[2]",
                    "messages[1].content[3]", "messages[1].content[4].citations", "top_k",
                ])
            #expect(request.messages.map(\.text) == ["hi", "Rain. Snow.", "and?"])
        }
        var own = read.chat
        own.native = read.native
        #expect(try TranslationTable.translate(&own, to: .anthropic) == [])
        #expect(own.native?.body["messages"]?[1]?["content"]?.array?.count == 6)
    }

    @Test("Null is the same as missing, and unknown members are kept")
    func patience() throws {
        let body = #"""
            {"model":null,"system":null,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a",
            "content":null},{"type":"text","text":"hi","citations":null}]},{"role":"assistant","content":[
            {"type":"server_tool_use","id":"s","name":"web_search","input":{}},
            {"type":"web_search_tool_result","tool_use_id":"s","content":[]},
            {"type":"tool_use","id":"b","name":"x"}]}],"max_tokens":12.0,"temperature":null,"tools":[{"name":"x",
            "input_schema":{"type":"object"}}],"tool_choice":{"type":"none"},"thinking":{"type":"adaptive"},
            "output_config":{"effort":"max","format":{"type":"json_schema","schema":{"a":1}}},"top_k":3,"gone":null}
            """#
        let chat = try AnthropicRequest(parsing: Array(body.utf8)).chat
        #expect(
            chat.messages == [
                Message(.tool, [.result(ToolResult(call: "a", content: ""))]), Message(.user, "hi"),
                Message(.assistant, [.call(ToolCall(id: "b", name: "x", input: [:]))]),
            ])
        #expect(chat.options.maxTokens == 12 && chat.options.effort == .high && chat.tools.count == 1 && !chat.streams)
        #expect(chat.toolChoice == .never && chat.options.thinking == .adaptive)
        #expect(chat.schema == AnswerSchema(name: "answer", schema: ["a": 1]))
        #expect(chat.extras == ["top_k": 3])
    }

    @Test(
        "Members that only Anthropic knows are kept for its servers, and refused by name for others",
        arguments: [
            (#"{"messages":[{"role":"user","content":[{"type":"film"}]}]}"#, "messages[0].content[0].type"),
            (
                #"{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://a"}}]}]}"#,
                "messages[0].content[0].source.type"
            ),
            (
                #"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_reference","tool_name":"b"}]}]}]}"#,
                "messages[0].content[0].content[0].type"
            ),
            (#"{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"bash_1","name":"b"}]}"#, "tools[0].type"),
            (#"{"messages":[{"role":"user","content":"a"}],"thread":{"type":"create"}}"#, "thread"),
        ])
    func foreign(_ body: String, _ field: String) throws {
        let json = try JSON(parsing: Array(body.utf8))
        let request = try AnthropicRequest(json)
        var chat = request.chat
        (chat.model, chat.native) = ("claude-haiku-4-5", request.native)
        var own = chat
        #expect(try TranslationTable.translate(&own, to: .anthropic) == [])
        let sent = try AnthropicDialect().body(of: own)
        for name in ["messages", "tools", "thread"] { #expect(sent[name] == json[name]) }
        for target in [RequestDialect.openai, .responses, nil] {
            let error = #expect(throws: DialectError.self) { try TranslationTable.translate(&chat, to: target) }
            #expect(error?.refusal?.field == field)
        }
    }

    @Test(
        "A reasoning budget is read as an effort",
        arguments: [
            (1024, ModelOptions.Effort.minimal), (4096, .low),
            (10_240, .medium), (32_000, .high),
        ])
    func budgets(_ tokens: Int, _ effort: ModelOptions.Effort) throws {
        let body =
            #"{"messages":[{"role":"user","content":"a"}],"thinking":{"type":"enabled","budget_tokens":\#(tokens)}}"#
        #expect(try AnthropicRequest(parsing: Array(body.utf8)).chat.options.effort == effort)
    }

    @Test("An invalid budget and an invalid format are refused by name")
    func unfit() {
        for (members, path) in [
            (#""thinking":{"type":"enabled","budget_tokens":1023}"#, "thinking.budget_tokens"),
            (#""output_config":{"format":{"type":"xml","schema":{}}}"#, "output_config.format.type"),
            (#""output_config":[]"#, "output_config"),
            (#""tool_choice":{"type":"tool","name":""}"#, "tool_choice.name"),
            (#""system":[{"type":"image","text":"a"}]"#, "system[0].type"),
        ] {
            let body = #"{"messages":[{"role":"user","content":"a"}],\#(members)}"#
            let error = #expect(throws: DialectError.self) { try AnthropicRequest(parsing: Array(body.utf8)) }
            #expect(error?.refusal?.field == path, "\(members)")
        }
    }
}
