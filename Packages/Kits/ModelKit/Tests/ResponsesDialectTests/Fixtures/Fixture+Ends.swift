import Capabilities
import DialectTesting

extension Fixture {
    private static let half =
        created + #"""
            {"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]},"sequence_number":2}
            {"type":"response.content_part.added","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]},"sequence_number":3}
            {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"half of it","logprobs":[],"sequence_number":4}

            """#

    static let ends = [
        Fixture(
            "the limit of tokens",
            events: half
                + #"{"type":"response.incomplete","response":{"id":"resp_1","object":"response","created_at":1,"status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"},"model":"gpt-5","output":[{"id":"msg_1","type":"message","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"half of it","annotations":[]}]}],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":{"input_tokens":1,"output_tokens":3,"total_tokens":4}},"sequence_number":5}"#,
            Reading(
                model: "gpt-5", text: "half of it", usage: Usage(inputTokens: 1, outputTokens: 3), finish: .length)),
        Fixture(
            "a filter, before anything was said", isKnownToVendor: false,
            events: created
                + #"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}}"#,
            Reading(model: "gpt-5", finish: .refused)),
        Fixture(
            "a response that failed", isKnownToVendor: false,
            events: half
                + #"{"type":"response.failed","response":{"id":"resp_1","status":"failed","model":"gpt-5","output":[],"error":{"code":"server_error","message":"The model is gone"}}}"#,
            Reading(model: "gpt-5", text: "half of it", failure: "model.failed", words: "The model is gone")),
        Fixture(
            "an error in the midst of the stream", isKnownToVendor: false,
            events: half
                + #"{"type":"error","code":"rate_limit_exceeded","message":"Too fast","param":null,"sequence_number":5}"#,
            Reading(model: "gpt-5", text: "half of it", failure: "model.failed", words: "Too fast")),
        Fixture(
            "an error in an envelope", isKnownToVendor: false,
            events: half + #"{"type":"error","error":{"type":"server_error","message":"upstream is gone"}}"#,
            Reading(model: "gpt-5", text: "half of it", failure: "model.failed", words: "upstream is gone")),
        Fixture(
            "no end is a cut, and what came is kept", isKnownToVendor: false, events: half,
            Reading(model: "gpt-5", text: "half of it", failure: "model.cut")),
        Fixture(
            "a turn with nothing in it", isKnownToVendor: false, events: created + completed("[]"),
            Reading(model: "gpt-5", finish: .stop)),
        Fixture(
            "events without a name are known by their type, and unknown ones pass", isKnownToVendor: false,
            #"""
            : a comment

            data: {"type":"response.created","response":{"id":"r","model":"m"}}

            event: response.hologram.delta
            data: {"type":"response.hologram.delta","output_index":0,"delta":"no"}

            event: weather
            data: {rain

            data: {"type":"response.output_text.delta","delta":"ok"}

            data: {"type":"response.output_item.done","output_index":5,"item":{"type":"hologram","id":"h"}}

            data: {"type":"response.completed","response":{"status":"completed","output":null,"usage":null}}

            data: [DONE]


            """#, Reading(model: "m", text: "ok", finish: .stop)),
    ]
}
