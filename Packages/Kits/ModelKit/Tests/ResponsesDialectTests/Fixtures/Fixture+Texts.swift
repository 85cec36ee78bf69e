import Capabilities
import DialectTesting

extension Fixture {
    static let created = #"""
        {"type":"response.created","response":{"id":"resp_1","object":"response","created_at":1760000000,"status":"in_progress","error":null,"incomplete_details":null,"instructions":null,"metadata":{},"model":"gpt-5","output":[],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"temperature":1,"top_p":1,"usage":null},"sequence_number":0}
        {"type":"response.in_progress","response":{"id":"resp_1","object":"response","created_at":1760000000,"status":"in_progress","error":null,"model":"gpt-5","output":[],"parallel_tool_calls":true,"tool_choice":"auto","tools":[]},"sequence_number":1}

        """#

    /// The end of a response with this output.
    static func completed(_ output: String, usage: String = "null") -> String {
        #"{"type":"response.completed","response":{"id":"resp_1","object":"response","created_at":1760000000,"status":"completed","error":null,"incomplete_details":null,"instructions":null,"metadata":{},"model":"gpt-5","output":\#(output),"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":\#(usage)},"sequence_number":99}"#
    }

    static let texts = [
        Fixture(
            "text, and what it took",
            events: created + #"""
                {"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]},"sequence_number":2}
                {"type":"response.content_part.added","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]},"sequence_number":3}
                {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Grüße ","logprobs":[],"sequence_number":4,"obfuscation":"x8d"}
                {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"\ud83d\ude00","logprobs":[],"sequence_number":5,"obfuscation":"x"}
                {"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"Grüße 😀","logprobs":[],"sequence_number":6}
                {"type":"response.content_part.done","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Grüße 😀","annotations":[],"logprobs":[]},"sequence_number":7}
                {"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Grüße 😀","annotations":[],"logprobs":[]}]},"sequence_number":8}

                """#
                + completed(
                    #"[{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Grüße 😀","annotations":[],"logprobs":[]}]}]"#,
                    usage:
                        #"{"input_tokens":30,"input_tokens_details":{"cached_tokens":20,"cache_write_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":35}"#
                ),
            Reading(
                model: "gpt-5", text: "Grüße 😀",
                usage: Usage(
                    inputTokens: 30, outputTokens: 5, cachedTokens: 20, cacheWriteTokens: 0, reasoningTokens: 0),
                finish: .stop)),
        Fixture(
            "thoughts in paragraphs, with what only the provider can read",
            events: created + #"""
                {"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"status":"in_progress"},"sequence_number":2}
                {"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""},"sequence_number":3}
                {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"First ","sequence_number":4}
                {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"this.","sequence_number":5}
                {"type":"response.reasoning_summary_text.done","item_id":"rs_1","output_index":0,"summary_index":0,"text":"First this.","sequence_number":6}
                {"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""},"sequence_number":6}
                {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"Then that.","sequence_number":7}
                {"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","status":"completed","summary":[{"type":"summary_text","text":"First this."},{"type":"summary_text","text":"Then that."}],"encrypted_content":"gAAA"},"sequence_number":8}
                {"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]},"sequence_number":9}
                {"type":"response.content_part.added","item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]},"sequence_number":9}
                {"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"Four.","logprobs":[],"sequence_number":10}

                """#
                + completed(
                    #"[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"First this."},{"type":"summary_text","text":"Then that."}],"encrypted_content":"gAAA"},{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Four.","annotations":[]}]}]"#,
                    usage:
                        #"{"input_tokens":3,"output_tokens":50,"output_tokens_details":{"reasoning_tokens":40},"total_tokens":53}"#
                ),
            Reading(
                model: "gpt-5", text: "Four.", reasoning: "First this.\n\nThen that.",
                proofs: [
                    #"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"First this."},{"type":"summary_text","text":"Then that."}],"encrypted_content":"gAAA"}"#
                ], usage: Usage(inputTokens: 3, outputTokens: 50, reasoningTokens: 40), finish: .stop)),
        Fixture(
            "a refusal",
            events: created + #"""
                {"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]},"sequence_number":2}
                {"type":"response.content_part.added","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"refusal","refusal":""},"sequence_number":3}
                {"type":"response.refusal.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"I can","sequence_number":4}
                {"type":"response.refusal.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"not.","sequence_number":5}
                {"type":"response.refusal.done","item_id":"msg_1","output_index":0,"content_index":0,"refusal":"I cannot.","sequence_number":6}

                """#
                + completed(
                    #"[{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"refusal","refusal":"I cannot."}]}]"#
                ),
            Reading(model: "gpt-5", refusal: "I cannot.", finish: .refused)),
        Fixture(
            "a server that says everything at the end", isKnownToVendor: false,
            events:
                completed(
                    #"[{"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]},{"type":"function_call","call_id":"c","name":"list","arguments":""}]"#
                ),
            Reading(model: "gpt-5", text: "ok", reasoning: "hm", calls: ["c list {}"], finish: .calls)),
    ]
}
