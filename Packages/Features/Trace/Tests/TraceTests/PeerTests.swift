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
        import base64, gzip, json, sys, urllib.error, urllib.request
        from google.protobuf import json_format
        from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs_service
        from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics_service
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service

        def facts(name, spans):
            return [name, [span if isinstance(span, str) else span["name"] for span in spans]]

        given = json.load(sys.stdin)
        result = []
        for request in given["requests"]:
            body = base64.b64decode(request["body"])
            if request["encoding"] == "gzip":
                body = gzip.decompress(body)
            if request["target"] == "/v1/logs":
                message = logs_service.ExportLogsServiceRequest.FromString(body)
                result += [
                    facts(scope.scope.name, [log.body.string_value for log in scope.log_records])
                    for group in message.resource_logs for scope in group.scope_logs]
            elif request["target"] == "/v1/metrics":
                message = metrics_service.ExportMetricsServiceRequest.FromString(body)
                result += [
                    facts(scope.scope.name, [metric.name for metric in scope.metrics])
                    for group in message.resource_metrics for scope in group.scope_metrics]
            elif request["type"] == "application/json":
                for group in json.loads(body)["resourceSpans"]:
                    name = group["resource"]["attributes"][0]["value"]["stringValue"]
                    result.append(facts(name, [span for scope in group["scopeSpans"] for span in scope["spans"]]))
            else:
                message = service.ExportTraceServiceRequest.FromString(body)
                for group in message.resource_spans:
                    name = group.resource.attributes[0].value.string_value
                    result.append(facts(name, [span.name for scope in group.scope_spans for span in scope.spans]))
        def post(endpoint, headers, message):
            body = gzip.compress(message.SerializeToString())
            request = urllib.request.Request(endpoint + "/v1/traces", body)
            request.add_header("Content-Type", "application/x-protobuf")
            request.add_header("Content-Encoding", "gzip")
            if headers:
                request.add_header(*headers.split("="))
            try:
                with urllib.request.urlopen(request) as answer:
                    partial = service.ExportTraceServiceResponse.FromString(answer.read()).partial_success
                    return [answer.status, partial.rejected_spans, partial.error_message]
            except urllib.error.HTTPError as error:
                return [error.code, 0, ""]

        message = service.ExportTraceServiceRequest()
        group = message.resource_spans.add()
        attribute = group.resource.attributes.add(key="service.name")
        attribute.value.string_value = "python"
        scope = group.scope_spans.add()
        scope.scope.name = "lib"
        for number in range(3):
            span = scope.spans.add(trace_id=bytes([1] * 16), span_id=bytes([number] * 8), name="p%d" % number)
            span.start_time_unix_nano = 1700000000000000000
            span.end_time_unix_nano = 1700000001000000000
        answers = [post(given["endpoint"], "", message), post(given["endpoint"], given["headers"], message)]

        # Increases of a metric, in both forms, and one of them again as after a lost answer.
        def metrics(value, second):
            message = metrics_service.ExportMetricsServiceRequest()
            group = message.resource_metrics.add()
            group.resource.attributes.add(key="service.name").value.string_value = "python"
            metric = group.scope_metrics.add().metrics.add(name="calls", unit="{call}")
            metric.sum.aggregation_temporality = 1
            metric.sum.data_points.add(time_unix_nano=(1700000000 + second) * 10**9, as_int=value)
            return message

        def post_metrics(body, form):
            request = urllib.request.Request(given["endpoint"] + "/v1/metrics", body)
            request.add_header("Content-Type", "application/" + form)
            request.add_header(*given["headers"].split("="))
            with urllib.request.urlopen(request) as answer:
                return [answer.status, len(answer.read()), ""]

        answers.append(post_metrics(metrics(4, 1).SerializeToString(), "x-protobuf"))
        text = json_format.MessageToJson(metrics(3, 2), use_integers_for_enums=True).encode()
        answers += [post_metrics(text, "json"), post_metrics(text, "json")]
        json.dump({"read": result, "answers": answers}, sys.stdout)
        """

    @Test("What we send is what they read, and what they send is taken")
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
                try await SignalExporter<StoredSpan>(target, client: client, headers: []).send(spans) { _, _ in }
                await client.close()
            }
            let client = HTTPClient(.standalone)
            let log = LogRecord(.error, "demo", "broken", at: Timestamp(microseconds: 3))
            let family = MetricFamily("calls_total", .counter, "Calls", [.init(.whole(7))])
            let reading = MetricReading(
                family, of: "demo", since: Timestamp(microseconds: 1), at: Timestamp(microseconds: 2))
            try await SignalExporter<StoredLog>(
                Collector(at: collector.address, for: .logs), client: client, headers: []
            ).send([StoredLog(log: log, resource: [:])]) { _, _ in }
            try await SignalExporter<ExportedMetric>(
                Collector(at: collector.address, for: .metrics), client: client, headers: []
            ).send([ExportedMetric(reading, of: [:])]) { _, _ in }
            await client.close()
            let all = OTLPSignal.allCases.flatMap { collector.requests(of: $0) }
            let requests = all.map { request -> JSON in
                [
                    "target": .string(request.target),
                    "encoding": .string(request.headers["Content-Encoding"] ?? ""),
                    "type": .string(request.headers["Content-Type"] ?? ""),
                    "body": .string(Base64.encode(request.body)),
                ]
            }
            let output = try await Self.output(of: requests)
            let expected = [("a", 1...20), ("b", 21...40)].map { name, numbers -> JSON in
                [.string(name), .array(numbers.map { .string("s\($0)") })]
            }
            #expect(
                output["read"]
                    == .array(
                        expected + expected + [["demo", ["broken"]], ["demo", ["calls_total"]]]))
            let answers: JSON = [
                [401, 0, ""], [200, 1, "the span id is not 8 bytes or is zero (1)"], [200, 0, ""], [200, 2, ""],
                [200, 2, ""],
            ]
            #expect(output["answers"] == answers)
        }
    }

    /// What the program says while a receiver runs.
    private static func output(of requests: [JSON]) async throws -> JSON {
        let said = Promise<JSON>()
        try await StoreLab.run { (lab) async throws in
            try await Receiving.run(lab) { (receiving) async throws in
                let input: JSON = [
                    "requests": .array(requests), "endpoint": .string(receiving.address),
                    "headers": .string("Authorization=Bearer \(Receiving.token.withText { $0 })"),
                ]
                let output = try await PythonPeer.output(source: program, input: Array(input.text().utf8))
                said.settle(try JSON(parsing: output))
            }
            #expect(Set(try await lab.names()) == ["p1", "p2"])
            #expect(try await lab.store.traces(TraceQuery()).traces.map(\.service) == ["python"])
            let calls = try #require(try await lab.store.metrics(MetricQuery()).metrics.first)
            #expect(calls.point.name == "calls" && calls.point.value == .number(7) && calls.points == 3)
        }
        return try await said.value()
    }
}
