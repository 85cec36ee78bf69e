import Capabilities
import DialectTesting

extension Fixture {
    static let proxies = [
        Fixture(
            "litellm: the input is told at the end, stop_sequence is missing",
            events: #"""
                {"type": "message_start", "message": {"id": "msg_l", "type": "message", "role": "assistant", "content": [], "model": "gpt", "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 0, "output_tokens": 0}}}
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
                {"type": "content_block_stop", "index": 0}
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 11, "output_tokens": 3}}
                {"type": "message_stop"}
                """#,
            Reading(model: "gpt", text: "Hi", usage: Usage(inputTokens: 11, outputTokens: 3), finish: .stop)),
        Fixture(
            "events without a name are known by their type", isKnownToVendor: false,
            #"""
            data: {"type":"message_start","message":{"id":"m","model":"m","usage":{"input_tokens":1}}}

            data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"o"}}

            data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"k"}}

            data: {"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"END"},"usage":{"output_tokens":1}}

            data: {"type":"message_stop"}

            data: [DONE]


            """#,
            Reading(model: "m", text: "ok", usage: Usage(inputTokens: 1, outputTokens: 1), finish: .stop)),
        Fixture(
            "whole calls, and pieces of blocks that never began", isKnownToVendor: false,
            events: #"""
                {"type":"message_start","message":{"id":"m","model":"m","content":null,"usage":null}}
                {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}
                {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ok"}}
                {"type":"content_block_delta","index":7,"delta":{"type":"input_json_delta","partial_json":"{"}}
                {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"one","input":{"x":1}}}
                {"type":"content_block_stop","index":2}
                {"type":"content_block_stop","index":9}
                {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":null}
                {"type":"message_stop"}
                """#,
            Reading(model: "m", text: "ok", reasoning: "hm", calls: [#"a one {"x":1}"#], finish: .calls)),
        Fixture(
            "what nobody knows passes: keys, blocks, pieces, events, a reason",
            #"""
            : a comment

            event: message_start
            data: {"type":"message_start","new":1,"message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1,"new":{}}}}

            event: weather
            data: {"type":"weather","delta":{"type":"text_delta","text":"no"}}

            event: content_block_start
            data: {"type":"content_block_start","index":0,"content_block":{"type":"hologram","text":"no"}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":0,"delta":{"type":"light_delta","text":"no"}}

            event: content_block_stop
            data: {"type":"content_block_stop","index":0}

            event: content_block_start
            data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":1,"new":[],"delta":{"type":"text_delta","text":"ok","new":null}}

            event: content_block_stop
            data: {"type":"content_block_stop","index":1}

            event: message_delta
            data: {"type":"message_delta","delta":{"stop_reason":"tired","stop_sequence":null,"container":null},"usage":{"output_tokens":2}}

            event: message_stop
            data: {"type":"message_stop"}


            """#,
            Reading(model: "m", text: "ok", usage: Usage(inputTokens: 1, outputTokens: 2), finish: .other("tired"))),
    ]
}
