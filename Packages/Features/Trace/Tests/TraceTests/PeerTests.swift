import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing
import TraceExport
import TraceKit
import TraceStore

/// One Python process does all, since its start takes longest.
@Suite("OTLP over HTTP, by the official classes for Python", .timeLimit(.minutes(2)))
struct PeerTests {
    private static let program = """
        import base64, gzip, json, sys
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service

        def facts(name, spans):
            return [name, [span if isinstance(span, str) else span["name"] for span in spans]]

        given = json.load(sys.stdin)
        result = []
        for request in given["requests"]:
            body = gzip.decompress(base64.b64decode(request["body"]))
            if request["type"] == "application/json":
                for group in json.loads(body)["resourceSpans"]:
                    name = group["resource"]["attributes"][0]["value"]["stringValue"]
                    result.append(facts(name, [span for scope in group["scopeSpans"] for span in scope["spans"]]))
            else:
                message = service.ExportTraceServiceRequest.FromString(body)
                for group in message.resource_spans:
                    name = group.resource.attributes[0].value.string_value
                    result.append(facts(name, [span.name for scope in group.scope_spans for span in scope.spans]))
        json.dump(result, sys.stdout)
        """

    @Test("What we send is what they read")
    func both() async throws {
        let spans = try (1...40).map { number in
            let (trace, span) = (TraceID(words: (1, 2)), SpanID(word: UInt64(number)))
            return StoredSpan(
                span: TraceSpan(
                    name: "s\(number)", feature: "demo",
                    context: TraceContext(trace: try #require(trace), span: try #require(span)), parent: nil,
                    start: Timestamp(microseconds: 1_000), duration: .seconds(1)),
                resource: ["service.name": .string(number <= 20 ? "a" : "b")])
        }
        try await FakeCollector.run { (collector) async throws in
            for form in OTLPEncoding.allCases {
                var target = Collector(at: collector.address)
                target.encoding = form
                let client = HTTPClient(.standalone)
                try await SpanExporter(target, client: client, headers: []).send(spans) { _, _ in }
                await client.close()
            }
            let requests = collector.requests.map { request -> JSON in
                [
                    "type": .string(request.headers["Content-Type"] ?? ""),
                    "body": .string(Base64.encode(request.body)),
                ]
            }
            let output = try await PythonPeer.output(
                source: Self.program, input: Array(JSON.object(["requests": .array(requests)]).text().utf8))
            let expected = [("a", 1...20), ("b", 21...40)].map { name, numbers -> JSON in
                [.string(name), .array(numbers.map { .string("s\($0)") })]
            }
            #expect(try JSON(parsing: output) == .array(expected + expected))
        }
    }
}
