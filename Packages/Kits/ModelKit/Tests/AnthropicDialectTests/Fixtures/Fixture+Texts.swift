import Capabilities
import DialectTesting

extension Fixture {
    static let texts = [
        Fixture(
            "text: pings anywhere, usage that is cumulative, a cache",
            events: #"""
                {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}
                {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
                {"type":"ping"}
                {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße "}}
                {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ud83d\ude00 \"x\""}}
                {"type":"ping"}
                {"type":"content_block_stop","index":0}
                {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":12}}
                {"type":"message_stop"}
                """#,
            Reading(
                model: "claude-sonnet-4-5", text: "Grüße 😀 \"x\"",
                usage: Usage(inputTokens: 2105, outputTokens: 12, cachedTokens: 2000, cacheWriteTokens: 100),
                finish: .stop)),
        Fixture(
            "thoughts with their signature, and some that only the provider can read",
            events: #"""
                {"type":"message_start","message":{"id":"msg_2","type":"message","role":"assistant","model":"claude-opus-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}
                {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
                {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}
                {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"think."}}
                {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h"}}
                {"type":"content_block_stop","index":0}
                {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix"}}
                {"type":"content_block_stop","index":1}
                {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}
                {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Four."}}
                {"type":"content_block_stop","index":2}
                {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":40,"output_tokens_details":{"thinking_tokens":31}}}
                {"type":"message_stop"}
                """#,
            Reading(
                model: "claude-opus-4-5", text: "Four.", reasoning: "Let me think.",
                proofs: ["EqQBCgIYAhIM1gbcDa9GJwZA2b3h", "EmwKAhgBEgy3va3pzix"],
                usage: Usage(inputTokens: 9, outputTokens: 40, reasoningTokens: 31), finish: .stop)),
        Fixture(
            "a refusal, and why",
            events: #"""
                {"type":"message_start","message":{"id":"msg_3","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}
                {"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":"bio","explanation":"That is not safe."}},"usage":{"output_tokens":3}}
                {"type":"message_stop"}
                """#,
            Reading(
                model: "claude-sonnet-4-5", refusal: "That is not safe.", usage: Usage(inputTokens: 9, outputTokens: 3),
                finish: .refused)),
        Fixture(
            "the limit of tokens",
            events: #"""
                {"type":"message_start","message":{"id":"msg_4","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}
                {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
                {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"One, tw"}}
                {"type":"content_block_stop","index":0}
                {"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"output_tokens":4}}
                {"type":"message_stop"}
                """#,
            Reading(
                model: "claude-sonnet-4-5", text: "One, tw", usage: Usage(inputTokens: 9, outputTokens: 4),
                finish: .length)),
        Fixture(
            "what the server's own tools have found, and where a text comes from",
            events: #"""
                {"type":"message_start","message":{"id":"msg_5","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}
                {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}
                {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}
                {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"weather\"}"}}
                {"type":"content_block_stop","index":0}
                {"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"W"}]}}
                {"type":"content_block_stop","index":1}
                {"type":"content_block_start","index":2,"content_block":{"type":"text","text":"","citations":[]}}
                {"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"rain","url":"https://w.example","title":"W","encrypted_index":"x"}}}
                {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Rain."}}
                {"type":"content_block_stop","index":2}
                {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":20,"server_tool_use":{"web_search_requests":1}}}
                {"type":"message_stop"}
                """#,
            Reading(
                model: "claude-sonnet-4-5", text: "Rain.", calls: [#"srvtoolu_1 web_search {"query":"weather"}, done"#],
                results: [
                    ToolResult(call: "srvtoolu_1", content: #"[{"type":"web_search_result","title":"W"}]"#)
                ], usage: Usage(inputTokens: 9, outputTokens: 20), finish: .stop)),
    ]
}
