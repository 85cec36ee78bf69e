import Capabilities
import HTTPTesting
import JSON
import Testing
import TraceKit

/// One Python process compares all, since its start takes longest.
@Suite("OTLP, by the official classes for Python")
struct OTLPPeerTests {
    private static let seed: UInt64 = 20_261_126

    private static func answer(of given: JSON) async throws -> JSON {
        let folder = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let runner = "import runpy, sys\nrunpy.run_path(sys.argv[1], run_name='__main__')"
        let output = try await PythonPeer.output(
            source: runner, ["\(folder)/Peers/otlp.py"], input: Array(given.text().utf8))
        return try JSON(parsing: output)
    }

    @Test("our requests contain what they should, theirs are read, and so are answers", .timeLimit(.minutes(1)))
    func both() async throws {
        var samples = SampleSpans(seed: Self.seed)
        let spans = samples.spans(200)
        let request = OTLPRequest(
            resource: TraceResource(attributes: ["service.name": "martlet", "process.pid": 7]), version: "1.2")
        var (protobuf, json, response, responseJSON): ([UInt8], [UInt8], [UInt8], [UInt8]) = ([], [], [], [])
        request.write(spans, as: .protobuf, into: &protobuf)
        request.write(spans, as: .json, into: &json)
        let rejection = OTLPResponse(rejected: 3, message: "too \"many\"")
        rejection.write(as: .protobuf, into: &response)
        rejection.write(as: .json, into: &responseJSON)
        let (logs, metrics) = (Self.logs(request), Self.metrics(request))
        let answer = try await Self.answer(of: [
            "logs": .string(Base64.encode(logs.protobuf)), "logsJSON": .string(logs.json),
            "values": .string(Base64.encode(metrics.protobuf)), "valuesJSON": .string(metrics.json),
            "protobuf": .string(Base64.encode(protobuf)), "json": .string(String(decoding: json, as: UTF8.self)),
            "response": .string(Base64.encode(response)),
            "responseJSON": .string(String(decoding: responseJSON, as: UTF8.self)), "seed": .int(Int(Self.seed)),
        ])
        try compare(answer, request, spans)
        // Lengths are as short as those of the library, so that nothing is larger than it has to be.
        #expect(answer["size"]?.int == protobuf.count)
        #expect(answer["response"] == [3, "too \"many\""] && answer["responseIsSame"] == true)
        // The library's own bytes for our spans are read as our spans.
        let again = try #require(answer["again"]?.string.flatMap { Base64.decode($0) })
        #expect(try facts(ReceivedSpans(parsing: again, as: .protobuf)) == answer["groups"]?.array)
        let made = try #require(answer["made"]?.array)
        #expect(made.count == 3)
        for request in made { try readTheirs(request) }
        try readMetrics(try #require(answer["metrics"]))
        #expect(answer["logs"] == Self.logFacts && answer["logsAreSame"] == true)
        #expect(answer["values"] == Self.metricFacts && answer["valuesAreSame"] == true)
        let rejected = try #require(answer["rejected"]?.string.flatMap { Base64.decode($0) })
        let expected = OTLPResponse(rejected: 3, message: "too many")
        #expect(try OTLPResponse(parsing: rejected, as: .protobuf) == expected)
        let text = try #require(answer["rejectedJSON"]?.string)
        #expect(try OTLPResponse(parsing: Array(text.utf8), as: .json) == expected)
    }

    // MARK: Logs and metrics, written only

    private typealias Body = (protobuf: [UInt8], json: String)

    private static func body(_ write: (OTLPEncoding, inout [UInt8]) -> Void) -> Body {
        var (protobuf, json): ([UInt8], [UInt8]) = ([], [])
        write(.protobuf, &protobuf)
        write(.json, &json)
        return (protobuf, String(decoding: json, as: UTF8.self))
    }

    private static func logs(_ request: OTLPRequest) -> Body {
        let logs = [
            LogRecord(
                .warning, "chat", "slow \"Größe\"\n", ["count": 3, "list": [1, "a"]], at: Timestamp(microseconds: 7),
                trace: TraceID(words: (1, 2)), span: SpanID(word: 3)),
            LogRecord(.error, "mcp", "", at: Timestamp(microseconds: 8)),
        ]
        return body { OTLPRequest.write([(request, logs: logs)], as: $0, into: &$1) }
    }

    private static let logFacts: JSON = {
        let resource: JSON = [["service.name", ["s": "martlet"]], ["process.pid", ["i": "7"]]]
        return [
            [
                resource, "chat", ["7000", "7000"], 13, "warning", ["s": "slow \"Größe\"\n"],
                [["count", ["i": "3"]], ["list", ["a": [["i": "1"], ["s": "a"]]]]], "00000000000000010000000000000002",
                "0000000000000003",
            ],
            [resource, "mcp", ["8000", "8000"], 17, "error", ["s": ""], [], "", ""],
        ]
    }()

    private static func metrics(_ request: OTLPRequest) -> Body {
        var durations = Histogram()
        for milliseconds in [2, 3, 400_000] { durations.add(.milliseconds(milliseconds)) }
        let families = [
            MetricFamily(
                "calls_total", .counter, "Calls",
                [.init(.whole(0), [("way", "in")]), .init(.whole(5), [("way", "ä\"")])]),
            MetricFamily("up_seconds", .gauge, "Time", unit: "s", [.init(.number(1.5)), .init(.number(.infinity))]),
            MetricFamily("took_seconds", .histogram, "Durations", unit: "s", [.init(.histogram(durations))]),
        ]
        let readings = families.map {
            MetricReading($0, of: "gateway", since: Timestamp(microseconds: 1), at: Timestamp(microseconds: 9))
        }
        return body { OTLPRequest.write([(request, metrics: readings)], as: $0, into: &$1) }
    }

    private static let metricFacts: JSON = {
        func point(_ facts: JSONObject, _ attributes: JSON = []) -> JSON {
            var point = facts
            point["times"] = ["1000", "9000"]
            point["attributes"] = attributes
            return .object(point)
        }
        return [
            [
                "gateway", "calls_total", "Calls", "", "sum", 2, true,
                [
                    point(["as_int": "0"], [["way", ["s": "in"]]]), point(["as_int": "5"], [["way", ["s": "ä\""]]]),
                ],
            ],
            [
                "gateway", "up_seconds", "Time", "s", "gauge", 0, false,
                [point(["as_double": "1.5"]), point(["as_double": "inf"])],
            ],
            [
                "gateway", "took_seconds", "Durations", "s", "histogram", 2, false,
                [
                    point([
                        "count": 3, "sum": 400.005, "buckets": [0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
                        "bounds": [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0],
                    ])
                ],
            ],
        ]
    }()

    private func compare(_ answer: JSON, _ request: OTLPRequest, _ spans: [TraceSpan]) throws {
        for form in ["groups", "json"] {
            let groups = try #require(answer[form]?.array)
            #expect(groups.compactMap { $0["scope"]?[0]?.string } == features(of: spans))
            for group in groups {
                #expect(group["resource"] == WireFacts.pairs(request.resource.attributes))
                #expect(group["scope"]?[1] == "1.2")
                let expected = spans.filter { $0.feature == group["scope"]?[0]?.string }.map(WireFacts.of)
                let found = try #require(group["spans"]?.array)
                #expect(found.count == expected.count)
                for (found, expected) in zip(found, expected) { compare(found, expected, form) }
            }
        }
    }

    /// Field by field.
    private func compare(_ found: JSON, _ expected: JSON, _ form: String) {
        for (name, value) in expected.object ?? [:] {
            #expect(found[name] == value, "\(name) of \(expected["context"] ?? .null) in \(form)")
        }
        #expect(found.object?.count == expected.object?.count)
    }

    private func features(of spans: [TraceSpan]) -> [String] {
        spans.map(\.feature).reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
    }

    private func readTheirs(_ request: JSON) throws {
        let protobuf = try #require(request["protobuf"]?.string.flatMap { Base64.decode($0) })
        let json = try #require(request["json"]?.string)
        let bodies: [(OTLPEncoding, [UInt8])] = [(.protobuf, protobuf), (.json, Array(json.utf8))]
        for (encoding, body) in bodies {
            let received = try ReceivedSpans(parsing: body, as: encoding)
            #expect(received.rejected == request["rejected"]?.int)
            let (found, expected) = (facts(received), try #require(request["groups"]?.array))
            #expect(found.count == expected.count)
            for (found, expected) in zip(found, expected) {
                #expect(found["resource"] == expected["resource"] && found["scope"] == expected["scope"])
                let pairs = zip(found["spans"]?.array ?? [], expected["spans"]?.array ?? [])
                for (found, expected) in pairs { compare(found, expected, encoding.rawValue) }
                #expect(found["spans"]?.array?.count == expected["spans"]?.array?.count)
            }
        }
    }

    private func readMetrics(_ request: JSON) throws {
        let protobuf = try #require(request["protobuf"]?.string.flatMap { Base64.decode($0) })
        let json = try #require(request["json"]?.string)
        let expected = try #require(request["points"]?.array)
        #expect(expected.count > 20)
        for (encoding, body) in [(OTLPEncoding.protobuf, protobuf), (.json, Array(json.utf8))] {
            let received = try ReceivedSpans(parsing: body, of: .metrics, as: encoding)
            #expect(received.rejected == request["rejected"]?.int)
            let found = received.groups.flatMap(\.metrics).map(WireFacts.of)
            #expect(found.count == expected.count)
            for (found, expected) in zip(found, expected) { compare(found, expected, encoding.rawValue) }
        }
    }

    private func facts(_ received: ReceivedSpans) -> [JSON] {
        received.groups.map { group in
            [
                "resource": WireFacts.pairs(group.resource.attributes),
                "scope": [
                    .string(group.scope.name), .string(group.scope.version ?? ""),
                    WireFacts.pairs(group.scope.attributes),
                ],
                "spans": .array(group.spans.map(WireFacts.of)),
            ]
        }
    }
}
