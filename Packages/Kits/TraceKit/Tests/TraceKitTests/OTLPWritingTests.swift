import Capabilities
import JSON
import Testing

@testable import TraceKit

/// What other programs make of these bytes is in `OTLPPeerTests`.
@Suite("Entries of the log and metrics in OTLP")
struct OTLPWritingTests {
    @Test("Entries of the log are read again as they were", arguments: OTLPEncoding.allCases)
    func logs(encoding: OTLPEncoding) throws {
        let logs = LogLevel.allCases.enumerated().map { number, level in
            LogRecord(
                level, "scope\(number / 2)", "message \(number)", ["event.name": "e", "n": .int(number)],
                at: Timestamp(microseconds: Int64(number)), trace: number == 1 ? nil : TraceID(words: (0, 7)),
                span: number == 1 ? nil : SpanID(word: 9))
        }
        var bytes: [UInt8] = []
        let programs = ["a", "b"].map {
            OTLPRequest(resource: TraceResource(attributes: ["service.name": .string($0)]))
        }
        OTLPRequest.write(programs.map { ($0, logs: logs) }, as: encoding, into: &bytes)
        let received = try ReceivedSpans(parsing: bytes, of: .logs, as: encoding)
        #expect(received.groups.map(\.scope.name) == ["scope0", "scope1", "scope0", "scope1"])
        #expect(received.groups.map { $0.resource.attributes["service.name"] } == ["a", "a", "b", "b"])
        #expect(received.groups.flatMap(\.logs) == logs + logs && received.rejected == 0)
    }

    @Test("Metrics are read again without secrets, as totals", arguments: OTLPEncoding.allCases)
    func metrics(encoding: OTLPEncoding) throws {
        var durations = Histogram()
        for seconds in [1, 2, 3] { durations.add(.seconds(seconds)) }
        let redactor = Redactor()
        redactor.learn(Secret("hunter2hunter2"))
        let families = [
            MetricFamily(
                "c", .counter, "Calls", [.init(.whole(.max), [("model", "hunter2hunter2")]), .init(.whole(0))]),
            MetricFamily("g", .gauge, "Now", unit: "s", [.init(.number(-0.5))]),
            MetricFamily("h", .histogram, "Times", [.init(.histogram(durations), [("a", "b")])]),
            MetricFamily("none", .counter, "Nothing", []),
        ].map { $0.redacted(by: redactor) }
        let (start, time) = (Timestamp(microseconds: 5), Timestamp(microseconds: 6))
        let readings = families.map { MetricReading($0, of: "demo", since: start, at: time) }
        var bytes: [UInt8] = []
        OTLPRequest.write(
            [(OTLPRequest(resource: TraceResource()), metrics: readings)], as: encoding, into: &bytes)
        let received = try ReceivedSpans(parsing: bytes, of: .metrics, as: encoding)
        func point(_ name: String, _ kind: MetricPoint.Kind, _ value: MetricPoint.Value) -> MetricPoint {
            MetricPoint(name, kind, scope: "demo", time: time, value: value)
        }
        var expected = [
            point("c", .sum, .number(Double(Int.max))), point("c", .sum, .number(0)),
            point("g", .gauge, .number(-0.5)), point("h", .histogram, .distribution(.init(count: 3, sum: 6))),
        ]
        expected[0].attributes = ["model": .string(Redactor.mark)]
        expected[2].unit = "s"
        expected[3].attributes = ["a": "b"]
        #expect(received.groups.flatMap(\.metrics) == expected && received.rejected == 0)
    }

    @Test("An answer says what was rejected in the words of its signal", arguments: OTLPSignal.allCases)
    func answers(signal: OTLPSignal) throws {
        for encoding in OTLPEncoding.allCases {
            var bytes: [UInt8] = []
            let answer = OTLPResponse(to: signal, rejected: 3, message: "no")
            answer.write(as: encoding, into: &bytes)
            #expect(try OTLPResponse(parsing: bytes, to: signal, as: encoding) == answer)
        }
    }
}
