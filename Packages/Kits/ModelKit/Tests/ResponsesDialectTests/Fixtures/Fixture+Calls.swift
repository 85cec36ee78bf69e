import Capabilities
import DialectTesting

extension Fixture {
    static let calls = [
        Fixture(
            "calls side by side, and one without input",
            events: created + #"""
                {"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"read"},"sequence_number":2}
                {"type":"response.output_item.added","output_index":1,"item":{"id":"fc_2","type":"function_call","status":"in_progress","arguments":"","call_id":"call_2","name":"list"},"sequence_number":3}
                {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"path\":","sequence_number":4}
                {"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":1,"delta":"{}","sequence_number":5}
                {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"\"a\"}","sequence_number":6}
                {"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":"{\"path\":\"a\"}","sequence_number":7}
                {"type":"response.output_item.done","output_index":0,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"path\":\"a\"}","call_id":"call_1","name":"read"},"sequence_number":8}
                {"type":"response.function_call_arguments.done","item_id":"fc_2","output_index":1,"arguments":"{}","sequence_number":9}
                {"type":"response.output_item.done","output_index":1,"item":{"id":"fc_2","type":"function_call","status":"completed","arguments":"{}","call_id":"call_2","name":"list"},"sequence_number":10}

                """#
                + completed(
                    #"[{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"path\":\"a\"}","call_id":"call_1","name":"read"},{"id":"fc_2","type":"function_call","status":"completed","arguments":"{}","call_id":"call_2","name":"list"}]"#
                ), Reading(model: "gpt-5", calls: [#"call_1 read {"path":"a"}"#, "call_2 list {}"], finish: .calls)),
        Fixture(
            "tools of the server's own have run already",
            events: created + #"""
                {"type":"response.output_item.added","output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"in_progress"},"sequence_number":2}
                {"type":"response.web_search_call.searching","output_index":0,"item_id":"ws_1","sequence_number":3}
                {"type":"response.output_item.done","output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"rain"}},"sequence_number":4}
                {"type":"response.output_item.added","output_index":1,"item":{"id":"mcp_1","type":"mcp_call","server_label":"s","name":"roll","arguments":"","output":null,"error":null,"status":"in_progress"},"sequence_number":4}
                {"type":"response.output_item.done","output_index":1,"item":{"id":"mcp_1","type":"mcp_call","server_label":"s","name":"roll","arguments":"{\"dice\":2}","output":"7","error":null,"status":"completed"},"sequence_number":5}
                {"type":"response.output_item.added","output_index":2,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]},"sequence_number":6}
                {"type":"response.content_part.added","item_id":"msg_1","output_index":2,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]},"sequence_number":6}
                {"type":"response.output_text.delta","item_id":"msg_1","output_index":2,"content_index":0,"delta":"Seven.","logprobs":[],"sequence_number":7}

                """#
                + completed(
                    #"[{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"rain"}},{"id":"mcp_1","type":"mcp_call","server_label":"s","name":"roll","arguments":"{\"dice\":2}","output":"7","error":null},{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Seven.","annotations":[]}]}]"#
                ),
            Reading(
                model: "gpt-5", text: "Seven.",
                calls: [#"ws_1 web_search {"type":"search","query":"rain"}, done"#, #"mcp_1 roll {"dice":2}, done"#],
                results: [ToolResult(call: "mcp_1", content: "7")], finish: .stop)),
        Fixture(
            "calls that were cut at the limit are no calls, with half an input or with none", isKnownToVendor: false,
            events: created + #"""
                {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","arguments":"","call_id":"a","name":"write"}}
                {"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"text\":"}
                {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","arguments":"","call_id":"b","name":"erase"}}
                {"type":"response.incomplete","response":{"id":"resp_1","model":"gpt-5","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","arguments":"{\"text\":","call_id":"a","name":"write","status":"incomplete"},{"type":"function_call","arguments":"","call_id":"b","name":"erase","status":"incomplete"}],"usage":{"input_tokens":1,"output_tokens":9}}}
                """#,
            Reading(
                model: "gpt-5", badCalls: [#"a write {"text":"#, "b erase "],
                usage: Usage(inputTokens: 1, outputTokens: 9), finish: .length)),
    ]
}
