import Capabilities
import CoreTesting
import HTTPCore
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@Suite("Messages to Anthropic", .timeLimit(.minutes(5)))
struct AnthropicTests {
    /// A desk with only a key for Anthropic.
    private func withAnthropic(
        _ streams: String..., isolation: isolated (any Actor)? = #isolation, _ body: (inout Desk) async throws -> Void
    ) async throws {
        let next = Counter()
        try await Desk.run { connection in
            try connection.receiveRequest()
            try connection.begin()
            try connection.send(streams[min(next.next(), streams.count - 1)])
        } _: { desk in
            desk.environment = [
                "ANTHROPIC_BASE_URL": "http://127.0.0.1:\(desk.server.port)", "ANTHROPIC_API_KEY": Desk.key,
            ]
            try await body(&desk)
        }
    }

    static func event(_ fields: String, _ type: String) -> String {
        "event: \(type)\ndata: {\"type\":\"\(type)\"\(fields.isEmpty ? "" : ",")\(fields)}\n\n"
    }

    static let begin = event(
        #""message":{"id":"m1","role":"assistant","model":"claude-x","content":[],"usage":{"input_tokens":9,"output_tokens":1}}"#,
        "message_start")

    static func end(_ reason: String) -> String {
        event(#""delta":{"stop_reason":"\#(reason)"},"usage":{"output_tokens":2}"#, "message_delta")
            + event("", "message_stop")
    }

    static func block(_ index: Int, _ start: String, _ deltas: String...) -> String {
        event("\"index\":\(index),\"content_block\":\(start)", "content_block_start")
            + deltas.map { event("\"index\":\(index),\"delta\":\($0)", "content_block_delta") }.joined()
            + event("\"index\":\(index)", "content_block_stop")
    }

    static func text(_ text: String, at index: Int = 0) -> String {
        block(index, #"{"type":"text","text":""}"#, #"{"type":"text_delta","text":"\#(text)"}"#)
    }

    @Test("Reasoning and tools work, and the reasoning is sent back with its signature")  // row L-01
    func tools() async throws {
        let call =
            Self.begin
            + Self.block(
                0, #"{"type":"thinking","thinking":""}"#, #"{"type":"thinking_delta","thinking":"Count."}"#,
                #"{"type":"signature_delta","signature":"sig-1"}"#)
            + Self.block(
                1, #"{"type":"tool_use","id":"toolu_1","name":"shop_stock","input":{}}"#,
                #"{"type":"input_json_delta","partial_json":"{\"thing\":"}"#,
                #"{"type":"input_json_delta","partial_json":"\"nails\"}"}"#) + Self.end("tool_use")
        try await withAnthropic(call, Self.begin + Self.text("Seven.") + Self.end("end_turn")) { desk in
            let done = try await desk.say("How many?", ["tools": true, "system": "Be brief."])
            #expect(done["result"] == "Seven." && done["provider"] == "anthropic" && done["model"] == "claude-x")
            #expect(done["usage"]?["input_tokens"] == 18 && done["usage"]?["output_tokens"] == 4)
            #expect(done.types == ["init", "reasoning", "tool_use", "tool_result", "message"])
            #expect(desk.asked[0].headers["x-api-key"] == Desk.key && desk.asked[0].target == "/v1/messages")
            let turns = desk.asked[1].json["messages"]?.array ?? []
            #expect(turns.map { $0["role"] } == ["user", "assistant", "user"])
            let thought = turns[1]["content"]?[0]
            #expect(thought?["thinking"] == "Count." && thought?["signature"] == "sig-1")
            #expect(turns[2]["content"]?[0]?["type"] == "tool_result")
            #expect(turns[2]["content"]?[0]?["content"]?.string?.contains("7 nails") == true)
            // The next command sends the same again.
            try await desk.say("And now?", ["continue": true])
            #expect(desk.asked[2].json["messages"]?[1] == turns[1])
        }
    }

    @Test("An answer that is cut in the middle is kept as far as it came")  // row L-04
    func cut() async throws {
        try await withAnthropic(
            Self.begin + Self.event(#""index":0,"content_block":{"type":"text","text":""}"#, "content_block_start")
                + Self.event(#""index":0,"delta":{"type":"text_delta","text":"Hel"}"#, "content_block_delta")
        ) { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.failure?.code == "chat.stream-lost" && done.exit == .unreachable)
            #expect(try await desk.stored().last?.hasPrefix("assistant: Hel (failed: ") == true)
        }
    }

    @Test("A refusal shows its reason and is not a failure")
    func refused() async throws {
        try await withAnthropic(Self.begin + Self.text("I cannot") + Self.end("refusal")) { desk in
            let done = try await desk.say("Hi")
            #expect(done["finish"] == "refused" && done.exit == .done)
        }
    }

    @Test("A paused answer is continued until it is complete")
    func paused() async throws {
        try await withAnthropic(
            Self.begin + Self.text("One, ") + Self.end("pause_turn"),
            Self.begin + Self.text("two.") + Self.end("end_turn")
        ) { desk in
            let done = try await desk.say("Count")
            #expect(done["result"] == "One, two." && done["finish"] == "stop" && done["num_turns"] == 1)
            #expect(done["usage"]?["input_tokens"] == 18 && done["usage"]?["output_tokens"] == 4)
            #expect(desk.asked[1].json["messages"]?.array?.last?["content"]?[0]?["text"] == "One, ")
            #expect(try await desk.stored() == ["user: Count", "assistant: One, two."])
        }
    }

    @Test("A server that pauses for ever is stopped")
    func pausedForEver() async throws {
        try await withAnthropic(Self.begin + Self.text("And ") + Self.end("pause_turn")) { desk in
            let done = try await desk.say("Count")
            #expect(done["finish"] == "pause_turn")
            #expect(desk.asked.count == 9)
        }
    }

    @Test("A lack of credit is reported")  // row L-05
    func refusedByStatus() async throws {
        try await Desk.run { connection in
            try connection.reply(
                #"{"type":"error","error":{"type":"billing_error","message":"Your credit is used up"}}"#, status: 402)
        } _: { desk in
            desk.environment = [
                "ANTHROPIC_BASE_URL": "http://127.0.0.1:\(desk.server.port)", "ANTHROPIC_API_KEY": Desk.key,
            ]
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.failure?.code == "chat.no-credit" && done.exit == .denied)
            #expect(done.failure?.message.contains("Your credit is used up") == true)
        }
    }
}
