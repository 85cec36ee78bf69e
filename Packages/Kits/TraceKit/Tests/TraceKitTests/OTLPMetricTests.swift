import Capabilities
import JSON
import Testing

@testable import TraceKit

@Suite("metrics of OTLP")
struct OTLPMetricTests {
    /// A point as a test describes it.
    private struct Sample {
        var time: UInt64 = 5_000
        var number: Double?
        var attributes = 1
        var flags: UInt64 = 0
    }

    /// A request with a gauge of these points.
    private static func body(_ points: [Sample], name: String = "n", as encoding: OTLPEncoding) -> [UInt8] {
        switch encoding {
        case .protobuf:
            var bytes: [UInt8] = []
            bytes.addMessage(1) {
                $0.addMessage(2) {
                    $0.addMessage(2) { bytes in
                        bytes.addText(1, name)
                        bytes.addMessage(5) { for point in points { $0.addMessage(1) { add(point, to: &$0) } } }
                    }
                }
            }
            return bytes
        case .json:
            let texts = points.map { point in
                let value = point.number.map { #","asDouble":\#($0.isFinite ? "\($0)" : "\"\($0.word)\"")"# } ?? ""
                let attributes = (0..<point.attributes).map { #"{"key":"a\#($0)","value":{"boolValue":true}}"# }
                return
                    #"{"timeUnixNano":"\#(point.time)","flags":\#(point.flags),"attributes":[\#(attributes.joined(separator: ","))]\#(value)}"#
            }
            let gauge = #"{"gauge":{"dataPoints":[\#(texts.joined(separator: ","))]},"name":"\#(name)"}"#
            return Array(#"{"resourceMetrics":[{"scopeMetrics":[{"metrics":[\#(gauge)]}]}]}"#.utf8)
        }
    }

    private static func add(_ point: Sample, to bytes: inout [UInt8]) {
        bytes.addFixed(3, point.time)
        if let number = point.number { bytes.addFixed(4, number.bitPattern) }
        for number in 0..<point.attributes {
            bytes.addMessage(7) {
                $0.addText(1, "a\(number)")
                $0.addMessage(2) { $0.addNumber(2, 1) }
            }
        }
        bytes.addNumber(8, point.flags)
    }

    @Test("in JSON may have members in any order, numbers that are not texts, and unknown members")
    func lenient() throws {
        let text = """
            {"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"unknown":1,"sum":{"isMonotonic":true,"dataPoints":[{"asInt":"-7",
            "timeUnixNano":5999,"exemplars":[{"asInt":"1"}]}],"aggregationTemporality":1},"name":"s","unit":"By"},
            {"name":"h","histogram":{"aggregationTemporality":2,"dataPoints":[{"count":3,"sum":1.5,"min":"Infinity","max":2,
            "bucketCounts":["1","2"],"explicitBounds":[1],"timeUnixNano":"7000"}]}},{"name":"e"},{"name":"q","summary":null}],
            "scope":{"name":"late"}}],"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"x"}}]}}]}
            """
        let received = try ReceivedSpans(parsing: Array(text.utf8), of: .metrics, as: .json)
        let group = try #require(received.groups.first)
        #expect(received.groups.count == 1 && group.resource.attributes == ["service.name": "x"])
        #expect(
            group.metrics == [
                MetricPoint(
                    "s", unit: "By", .sum, isDelta: true, scope: "late", time: Timestamp(microseconds: 5),
                    value: .number(-7)),
                MetricPoint(
                    "h", .histogram, scope: "late", time: Timestamp(microseconds: 7),
                    value: .distribution(.init(count: 3, sum: 1.5, least: nil, most: 2))),
            ])
        #expect(received.rejections.isEmpty && received.count == 2)
    }

    @Test("lose single points with which something is wrong, and say so", arguments: OTLPEncoding.allCases)
    func rejects(encoding: OTLPEncoding) throws {
        let points = [
            Sample(number: 1), Sample(time: 0, number: 2), Sample(), Sample(number: .nan), Sample(number: .infinity),
            Sample(number: 3, attributes: 129), Sample(number: 4, attributes: 128), Sample(flags: 1),
            Sample(number: 5, flags: 0x100),
        ]
        let received = try ReceivedSpans(
            parsing: Self.body(points, as: encoding), of: .metrics, as: encoding)
        let taken = received.groups.flatMap(\.metrics)
        #expect(taken.map(\.value) == [1, 4, 5].map { .number($0) })
        #expect(taken.allSatisfy { $0.name == "n" && $0.kind == .gauge } && taken[0].attributes == ["a0": true])
        #expect(received.rejections == [.time: 1, .value: 3, .attributes(128): 1])
        var answer: [UInt8] = []
        received.response.write(as: .json, into: &answer)
        #expect(String(decoding: answer, as: UTF8.self).contains(#""rejectedDataPoints":"5""#))
        let nameless = try ReceivedSpans(
            parsing: Self.body([Sample(number: 1), Sample(number: 2)], name: "", as: encoding), of: .metrics,
            as: encoding)
        #expect(nameless.groups.isEmpty && nameless.rejections == [.metricName: 2])
    }

    @Test("are taken up to the limits of a request", arguments: OTLPEncoding.allCases)
    func limits(encoding: OTLPEncoding) throws {
        let body = Self.body((1...9).map { Sample(number: Double($0)) }, as: encoding)
        var limits = OTLPLimits()
        limits.spans = 7
        let few = try ReceivedSpans(parsing: body, of: .metrics, as: encoding, limits: limits)
        #expect(few.count == 7 && few.rejections == [.spans(7): 2])
        limits.values = 5
        let cheap = try ReceivedSpans(parsing: body, of: .metrics, as: encoding, limits: limits)
        #expect(cheap.count == 5 && cheap.rejections == [.values(5): 4])
    }

    @Test("that were cut anywhere are refused, and a changed byte never crashes", arguments: OTLPEncoding.allCases)
    func cut(encoding: OTLPEncoding) throws {
        let body = Self.body([Sample(number: 1), Sample(number: 2)], as: encoding)
        for end in 1..<body.count {
            #expect(throws: TraceKitError.self) {
                try ReceivedSpans(parsing: Array(body[..<end]), of: .metrics, as: encoding)
            }
        }
        for place in body.indices {
            var changed = body
            changed[place] &+= 85
            do { _ = try ReceivedSpans(parsing: changed, of: .metrics, as: encoding) } catch is TraceKitError {}
        }
    }
}
