import Capabilities
import DialectTesting

extension Fixture {
    static let calls = [
        Fixture(
            "calls: input in pieces, and none at all, which is an empty one",
            events: #"""
                {"type":"message_start","message":{"id":"msg_6","type":"message","role":"assistant","model":"claude-haiku-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":400,"output_tokens":2}}}
                {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
                {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me see."}}
                {"type":"content_block_stop","index":0}
                {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}
                {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}
                {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a"}}
                {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":".txt\", \"n\": 1}"}}
                {"type":"content_block_stop","index":1}
                {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"list","input":{}}}
                {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}
                {"type":"content_block_stop","index":2}
                {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}
                {"type":"message_stop"}
                """#,
            Reading(
                model: "claude-haiku-4-5", text: "Let me see.",
                calls: [#"toolu_1 read {"path":"a.txt","n":1}"#, "toolu_2 list {}"],
                usage: Usage(inputTokens: 400, outputTokens: 89), finish: .calls)),
        Fixture(
            "calls that were cut at the limit are no calls, with half an input or with none", isKnownToVendor: false,
            events: #"""
                {"type":"message_start","message":{"id":"msg_7","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":4,"output_tokens":2}}}
                {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"write","input":{}}}
                {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"text\": \"ab"}}
                {"type":"content_block_stop","index":0}
                {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_2","name":"erase","input":{}}}
                {"type":"content_block_stop","index":1}
                {"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"output_tokens":9}}
                {"type":"message_stop"}
                """#,
            Reading(
                model: "m", badCalls: [#"toolu_1 write {"text": "ab"#, "toolu_2 erase "],
                usage: Usage(inputTokens: 4, outputTokens: 9), finish: .length)),
        Fixture(
            "input that is no object is a call to be mended", isKnownToVendor: false,
            events: #"""
                {"type":"message_start","message":{"id":"msg_8","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":4,"output_tokens":2}}}
                {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}
                {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":}"}}
                {"type":"content_block_stop","index":0}
                {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_2","name":"read","input":{}}}
                {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"[1]"}}
                {"type":"content_block_stop","index":1}
                {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"","name":"","input":{}}}
                {"type":"content_block_stop","index":2}
                {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}
                {"type":"message_stop"}
                """#,
            Reading(
                model: "m", badCalls: [#"toolu_1 read {"a":}"#, "toolu_2 read [1]", "call_3  "],
                usage: Usage(inputTokens: 4, outputTokens: 9), finish: .calls)),
        Fixture(
            "blocks that are open side by side",
            events: #"""
                {"type":"message_start","message":{"id":"msg_9","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":4,"output_tokens":2}}}
                {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"one","input":{}}}
                {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"two","input":{}}}
                {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"y\":"}}
                {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1}"}}
                {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"2}"}}
                {"type":"content_block_stop","index":0}
                {"type":"content_block_stop","index":1}
                {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}
                {"type":"message_stop"}
                """#,
            Reading(
                model: "m", calls: [#"a one {"x":1}"#, #"b two {"y":2}"#],
                usage: Usage(inputTokens: 4, outputTokens: 9),
                finish: .calls)),
        Fixture(
            "an answer that follows a schema is text, though it comes as a call", isKnownToVendor: false,
            events: #"""
                {"type":"message_start","message":{"id":"msg_10","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":4,"output_tokens":2}}}
                {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"structured_answer","input":{}}}
                {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\":"}}
                {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":" \"Kyiv\"}"}}
                {"type":"content_block_stop","index":0}
                {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}
                {"type":"message_stop"}
                """#,
            Reading(
                model: "m", text: #"{"city": "Kyiv"}"#, usage: Usage(inputTokens: 4, outputTokens: 9), finish: .stop)),
    ]
}
