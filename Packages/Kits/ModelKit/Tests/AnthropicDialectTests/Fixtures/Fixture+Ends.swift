import Capabilities
import DialectTesting

extension Fixture {
    private static let begun = #"""
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
        {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half of it"}}

        """#

    static let ends = [
        Fixture(
            "an error in the midst of the stream",
            events: begun
                + #"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#,
            Reading(
                model: "m", text: "half of it", usage: Usage(inputTokens: 1, outputTokens: 1), failure: "model.failed",
                words: "Overloaded")),
        Fixture(
            "an error as others write it, in an event of another name", isKnownToVendor: false,
            events: begun + #"{"error":{"message":"upstream is gone","code":502}}"#,
            Reading(
                model: "m", text: "half of it", usage: Usage(inputTokens: 1, outputTokens: 1), failure: "model.failed",
                words: "upstream is gone")),
        Fixture(
            "no end is a cut, and what came is kept", isKnownToVendor: false,
            events: begun + #"{"type":"content_block_stop","index":0}"#,
            Reading(
                model: "m", text: "half of it", usage: Usage(inputTokens: 1, outputTokens: 1), failure: "model.cut")),
        Fixture(
            "a reason to stop and the end of the stream are an end",
            events: begun
                + #"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":5}}"#,
            Reading(
                model: "m", text: "half of it", usage: Usage(inputTokens: 1, outputTokens: 5), finish: .length)),
        Fixture(
            "a turn with nothing in it", isKnownToVendor: false,
            events: #"""
                {"type":"message_start","message":{"id":"m","model":"m","usage":{"input_tokens":1,"output_tokens":1}}}
                {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
                {"type":"content_block_stop","index":0}
                {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}
                {"type":"message_stop"}
                """#,
            Reading(model: "m", usage: Usage(inputTokens: 1, outputTokens: 2), finish: .stop)),
        Fixture(
            "a turn that pauses says so, and lines may end in CR LF",
            (begun + #"""
                {"type":"content_block_stop","index":0}
                {"type":"message_delta","delta":{"stop_reason":"pause_turn","stop_sequence":null},"usage":{"output_tokens":2}}
                {"type":"message_stop"}
                """#).split(separator: "\n").map(event).joined().replacing("\n", with: "\r\n"),
            Reading(
                model: "m", text: "half of it", usage: Usage(inputTokens: 1, outputTokens: 2),
                finish: .other("pause_turn"))),
    ]
}
