import Capabilities
import CoreTesting
import JSON
import Testing
import TraceStore

@testable import Registry
@testable import Trace

@Suite("Requests that were recorded", .timeLimit(.minutes(5)))
struct RequestTests {
    private static let now = Timestamp(microseconds: 1_800_000_000_000_000)

    private static func request(
        _ id: Int, _ name: String, before seconds: Int, _ status: Int?, kind: SpanRecord.Kind = .client,
        _ facts: JSONObject = [:]
    ) throws -> TraceSpan {
        var sample = SampleSpan(trace: id, id: id, name: name, feature: "chat")
        (sample.kind, sample.start) = (kind, now + .seconds(-seconds))
        sample.attributes = facts
        if let status { sample.attributes["http.response.status_code"] = .int(status) }
        if kind != .internal { sample.attributes["http.request.method"] = .string(String(name.prefix { $0 != " " })) }
        if status == nil, kind != .internal { sample.failure = "http.refused" }
        return try sample.span
    }

    /// Five requests, a stream, and other work.
    private static func spans() throws -> [TraceSpan] {
        let lab: JSONObject = [
            "url.scheme": "http", "server.address": "::1", "server.port": 8080, "url.template": "/v1/models/{}",
        ]
        var stream = SampleSpan(trace: 6, id: 6, name: "stream", feature: "http")
        (stream.kind, stream.start, stream.duration) = (.client, now + .seconds(-100), .seconds(80))
        stream.attributes = ["martlet.stream.events": 2_400]
        return [
            try request(1, "GET", before: 50, 200, lab), try request(2, "POST", before: 40, 503, lab),
            try request(3, "POST /v1/messages", before: 30, 404, kind: .server, ["http.route": "/v1/messages"]),
            try request(4, "GET", before: 10, nil, lab), try request(5, "GET", before: 4_000, 200, lab),
            try stream.span, try SampleSpan(trace: 7, id: 7, name: "GETTING").span,
            try request(8, "RUN x", before: 1, nil, kind: .internal),
        ]
    }

    private func filled(_ body: (TraceStore) async throws -> Void) async throws {
        try await StoreLab.run { (lab) async throws in
            try await lab.store.add(try Self.spans())
            try await body(lab.store)
        }
    }

    private func find(_ arguments: JSONObject, in store: TraceStore) async throws -> [Int] {
        let found = try await RequestActions.find(try RequestArguments(reading: arguments), in: store)
        return found.rows.map { Int($0.span.context.span.description, radix: 16) ?? 0 }
    }

    @Test("Requests and their streams are listed, the newest first, by level, feature, text and time")
    func lists() async throws {
        try await filled { (store) async throws in
            #expect(try await find([:], in: store) == [4, 3, 2, 1, 6, 5])
            #expect(try await find(["limit": 2], in: store) == [4, 3])
            #expect(try await find(["level": "warning"], in: store) == [4, 3, 2])
            #expect(try await find(["level": "error"], in: store) == [4, 2])
            #expect(try await find(["scope": "http"], in: store) == [6])
            #expect(try await find(["text": "MODELS"], in: store) == [4, 2, 1, 5])
            #expect(try await find(["since": .string((Self.now + .seconds(-45)).iso8601)], in: store) == [4, 3, 2])
        }
    }

    @Test("What was requested in the last minute is counted, a stream by the part that was in it")
    func activity() async throws {
        try await filled { (store) async throws in
            let activity = try await Activity.read(from: store, at: Self.now).json
            #expect(activity["requests"] == 4 && activity["failed"] == 3)
            // 2,400 events in 80 seconds, of which 40 were in the last minute.
            #expect(activity["events_per_second"] == 20.0)
            #expect(activity["failure"] == "GET [::1]:8080 /v1/models/{} http.refused")
        }
    }

    @Test("A request is printed as a command of curl, without secrets and whatever another program has sent")
    func curl() throws {
        let spans = try Self.spans()
        #expect(
            try CurlCommand(of: spans[0]).text
                == #"curl --header "Authorization: Bearer $TOKEN" 'http://[::1]:8080/v1/models/{}'"#)
        #expect(
            try CurlCommand(of: spans[2]).text
                == #"curl --request POST --header "Authorization: Bearer $TOKEN" --header 'Content-Type: application/json' "#
                + #"--data @body.json "$SERVER"/v1/messages"#)
        let nowhere = try Self.request(9, "GET", before: 1, 404, kind: .server, ["http.route": ""])
        #expect(try CurlCommand(of: nowhere).text.hasSuffix(#""$SERVER"/"#))
        let hostile = try Self.request(
            9, "GET", before: 1, 200, ["server.address": "a'; rm -rf ~ #$(x)", "url.template": "/`id`"])
        #expect(try CurlCommand(of: hostile).text.hasSuffix(#"'https://a'\''; rm -rf ~ #$(x)/`id`'"#))
        for span in [spans[5], spans[6]] {
            let error = #expect(throws: TraceError.self) { try CurlCommand(of: span) }
            #expect(error?.code == "trace.not-a-request")
        }
    }

    @Test("Traces are found by the conversation, session, message, run or request that they are about")
    func subjects() async throws {
        try await StoreLab.run { (lab) async throws in
            func span(_ trace: Int, _ feature: String, _ facts: JSONObject) throws -> TraceSpan {
                var sample = SampleSpan(trace: trace, id: trace, feature: feature)
                sample.attributes = facts
                return try sample.span
            }
            try await lab.store.add([
                try span(1, "chat", ["gen_ai.conversation.id": "c1", "martlet.message.id": 7]),
                try span(2, "chat", ["gen_ai.conversation.id": "c1", "martlet.message.id": 9]),
                try span(3, "gateway", ["gen_ai.conversation.id": "s1"]),
                try span(4, "runner", ["cicd.pipeline.run.id": "r1"]),
                try span(5, "http", ["martlet.request.id": "q1"]),
                try span(6, "http", ["martlet.request.id": .string(String(repeating: "x", count: 200))]),
            ])
            func found(_ subject: String) async throws -> [TraceSummary] {
                var query = TraceQuery()
                query.subject = subject
                return try await lab.store.traces(query).traces.sorted { $0.id < $1.id }
            }
            #expect(try await found("c1").map { $0.id.last } == ["1", "2"])
            #expect(try await found("message:9").map { $0.id.last } == ["2"])
            #expect(try await found("9").isEmpty)
            #expect(try await found(String(repeating: "x", count: 200)).isEmpty)
            #expect(try await found("s1").map(\.conversation) == [nil])
            #expect(try await found("c1").map(\.conversation) == ["c1", "c1"])
            #expect(try await found("r1").map(\.run) == ["r1"])
            #expect(try await found("q1").count == 1)
            #expect(try await lab.store.clear(before: nil) == 6)
            #expect(try await found("c1").isEmpty)
        }
    }
}
