import Capabilities
import JSON

/// Feeds any bytes to everything that this module reads. Nothing may crash, and what was read is the same after it was written
/// and read again, in each form that has a reader.
@_spi(Fuzzing) public enum TraceFuzzTarget {
    public static func read(_ bytes: [UInt8]) {
        var limits = OTLPLimits()
        // Smaller than in life, so that they are met.
        (limits.spans, limits.values, limits.attributes, limits.events) = (20, 200, 8, 4)
        (limits.depth, limits.text, limits.name) = (4, 40, 20)
        for encoding in OTLPEncoding.allCases {
            _ = try? OTLPRefusal(parsing: bytes, as: encoding)
            for signal in OTLPSignal.allCases {
                _ = try? OTLPResponse(parsing: bytes, to: signal, as: encoding)
                if let received = try? ReceivedSpans(parsing: bytes, of: signal, as: encoding, limits: limits) {
                    precondition(received.count <= limits.spans, "there are more spans than the limit")
                    received.groups.forEach(writeAndRead)
                    received.groups.flatMap(\.metrics).forEach { check($0, limits) }
                }
            }
        }
        if let span = try? SpanLine.read(bytes) { writeAndRead(span) }
    }

    private static func writeAndRead(_ group: ReceivedSpans.Group) {
        group.spans.forEach(writeAndRead)
        for encoding in OTLPEncoding.allCases {
            var bytes: [UInt8] = []
            OTLPRequest(resource: group.resource).write(group.spans, as: encoding, into: &bytes)
            guard let again = try? ReceivedSpans(parsing: bytes, as: encoding), again.rejected == 0 else {
                preconditionFailure("what was written is not read again")
            }
            precondition(again.groups.flatMap(\.spans).map(facts) == group.spans.map(facts), "a span is another one")
            precondition(again.groups.allSatisfy { $0.resource == group.resource }, "the resource is another one")
        }
        for encoding in OTLPEncoding.allCases where !group.logs.isEmpty {
            var bytes: [UInt8] = []
            let program = OTLPRequest(resource: group.resource)
            OTLPRequest.write([(program, logs: group.logs)], as: encoding, into: &bytes)
            let again = try? ReceivedSpans(parsing: bytes, of: .logs, as: encoding)
            precondition(again?.groups.flatMap(\.logs) == group.logs, "an entry is another one")
        }
        for format in TraceFormat.allCases {
            var (writer, bytes) = (format.makeWriter(), [UInt8]())
            writer.begin(into: &bytes)
            for span in group.spans { writer.write(span, of: group.resource, into: &bytes) }
            writer.end(into: &bytes)
            precondition(format != .chrome || (try? JSON(parsing: bytes)) != nil, "the trace is no JSON")
        }
    }

    /// Metrics are only read, so what they may be is checked.
    private static func check(_ point: MetricPoint, _ limits: OTLPLimits) {
        precondition(!point.name.isEmpty && point.name.utf8.count <= limits.name, "a metric has another name")
        precondition(point.attributes.count <= limits.attributes, "a point has too many attributes")
        switch point.value {
        case .number(let number):
            precondition(!point.kind.isDistribution && number.isFinite, "a number is none")
        case .distribution(let facts):
            let numbers = [facts.sum, facts.least, facts.most].compactMap(\.self)
            precondition(
                point.kind.isDistribution && facts.count >= 0 && numbers.allSatisfy(\.isFinite), "a sum is none")
        }
    }

    private static func writeAndRead(_ span: TraceSpan) {
        var line: [UInt8] = []
        SpanLine.write(span, into: &line)
        let again = try? SpanLine.read(line)
        precondition(again.map(facts) == facts(span), "a line is read as another span")
    }

    /// All that a span says. Attributes have an order of their own after a status was read.
    private static func facts(_ span: TraceSpan) -> String {
        var line: [UInt8] = []
        SpanLine.write(span, into: &line)
        return (try? JSON(parsing: line, reading: .stream))?.text(.sorted) ?? ""
    }
}
