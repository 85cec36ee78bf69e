public import Capabilities
import JSON

/// The values of a metric of this program at a time, as OTLP exports them.
public struct MetricReading: Sendable {
    /// The metric and its values.
    public let family: MetricFamily
    /// The feature that measures it.
    public let feature: String
    /// Since when totals are counted.
    public let start: Timestamp
    /// When the values were read.
    public let time: Timestamp

    /// The values of a metric at a time.
    public init(_ family: MetricFamily, of feature: String, since start: Timestamp, at time: Timestamp) {
        (self.family, self.feature, self.start, self.time) = (family, feature, start, time)
    }
}

/// Totals are those since the start: `AGGREGATION_TEMPORALITY_CUMULATIVE`.
private let cumulative = 2

extension MetricReading: OTLPItem {
    static var signal: OTLPSignal { .metrics }
    var scopeName: String { feature }

    // MARK: Protocol Buffers

    func writeProtobuf(into bytes: inout [UInt8]) {
        bytes.addText(1, family.name)
        bytes.addText(2, family.help)
        bytes.addText(3, family.unit)
        bytes.addMessage(family.kind.field, lengthBytes: 2) { bytes in
            for sample in family.samples {
                bytes.addMessage(1) { bytes in
                    bytes.addFixed(2, start.nanoseconds)
                    bytes.addFixed(3, time.nanoseconds)
                    Self.write(sample, into: &bytes)
                }
            }
            guard family.kind != .gauge else { return }
            bytes.addNumber(2, UInt64(cumulative))
            // Only sums have it: that they never go down.
            if family.kind == .counter { bytes.addNumber(3, 1) }
        }
    }

    private static func write(_ sample: MetricFamily.Sample, into bytes: inout [UInt8]) {
        func addLabels(_ field: Int, _ bytes: inout [UInt8]) {
            for label in sample.labels { bytes.addAttribute(field, label.name, .string(label.value)) }
        }
        switch sample.value {
        case .whole(let number):
            bytes.addTag(6, .fixed64)
            bytes.addWord(UInt64(bitPattern: Int64(number)))
            addLabels(7, &bytes)
        case .number(let number):
            bytes.addTag(4, .fixed64)
            bytes.addWord(number.bitPattern)
            addLabels(7, &bytes)
        case .histogram(let histogram):
            bytes.addFixed(4, UInt64(histogram.count))
            bytes.addTag(5, .fixed64)
            bytes.addWord(histogram.sum.bitPattern)
            bytes.addMessage(6) { bytes in for count in histogram.buckets { bytes.addWord(UInt64(count)) } }
            bytes.addMessage(7) { bytes in for end in Histogram.ends { bytes.addWord(end.bitPattern) } }
            addLabels(9, &bytes)
        }
    }

    // MARK: JSON

    func writeJSON(into bytes: inout [UInt8]) {
        bytes.add("{\"name\":")
        bytes.addJSON(family.name)
        bytes.add(",\"description\":")
        bytes.addJSON(family.help)
        bytes.add(",\"unit\":")
        bytes.addJSON(family.unit)
        bytes.add(",\"")
        bytes.add(family.kind.member)
        bytes.add("\":{\"dataPoints\":[")
        for (place, sample) in family.samples.enumerated() {
            bytes.add(place == 0 ? "{\"startTimeUnixNano\":\"" : ",{\"startTimeUnixNano\":\"")
            bytes.addDecimal(start.nanoseconds)
            bytes.add("\",\"timeUnixNano\":\"")
            bytes.addDecimal(time.nanoseconds)
            bytes.add("\"")
            Self.writeJSON(sample, into: &bytes)
            bytes.add("}")
        }
        bytes.add("]")
        if family.kind != .gauge {
            bytes.add(",\"aggregationTemporality\":")
            bytes.addDecimal(Int64(cumulative))
        }
        if family.kind == .counter { bytes.add(",\"isMonotonic\":true") }
        bytes.add("}}")
    }

    private static func writeJSON(_ sample: MetricFamily.Sample, into bytes: inout [UInt8]) {
        var attributes: JSONObject = [:]
        for label in sample.labels { attributes[label.name] = .string(label.value) }
        bytes.addJSONAttributes(attributes)
        switch sample.value {
        case .whole(let number):
            bytes.add(",\"asInt\":\"")
            bytes.addDecimal(Int64(number))
            bytes.add("\"")
        case .number(let number):
            bytes.add(",\"asDouble\":")
            bytes.addNumber(number)
        case .histogram(let histogram):
            bytes.add(",\"count\":\"")
            bytes.addDecimal(UInt64(histogram.count))
            bytes.add("\",\"sum\":")
            bytes.addNumber(histogram.sum)
            bytes.add(",\"bucketCounts\":[")
            for (place, count) in histogram.buckets.enumerated() {
                bytes.add(place == 0 ? "\"" : ",\"")
                bytes.addDecimal(UInt64(count))
                bytes.add("\"")
            }
            bytes.add("],\"explicitBounds\":[")
            for (place, end) in Histogram.ends.enumerated() {
                if place > 0 { bytes.add(",") }
                bytes.addNumber(end)
            }
            bytes.add("]")
        }
    }
}

extension MetricFamily.Kind {
    /// The field of a metric that has its points.
    fileprivate var field: Int {
        switch self {
        case .gauge: 5
        case .counter: 7
        case .histogram: 9
        }
    }

    /// The same in JSON.
    fileprivate var member: StaticString {
        switch self {
        case .gauge: "gauge"
        case .counter: "sum"
        case .histogram: "histogram"
        }
    }
}

extension [UInt8] {
    /// Appends a number of JSON, or a text for one that JSON does not have.
    fileprivate mutating func addNumber(_ number: Double) {
        number.isFinite ? JSON.double(number).write(into: &self) : addJSON(number.word)
    }
}
