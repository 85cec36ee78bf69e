import Capabilities
import JSON
import TraceKit

/// What a span should be in OTLP, in the words of `otlp.py`.
struct WireFacts {
    static func of(_ span: TraceSpan) -> JSON {
        var (attributes, code, message) = (span.attributes, 0, "")
        if let failure = span.failure {
            code = 2
            message = failure == "error" ? "" : failure
            if let description = attributes["otel.status_description"]?.string {
                message = description
                attributes["otel.status_description"] = nil
            }
            if failure != "error" { attributes["error.type"] = attributes["error.type"] ?? .string(failure) }
        } else if attributes["otel.status_code"] == "OK" {
            code = 1
            attributes["otel.status_code"] = nil
        }
        let start = span.start.microseconds * 1_000
        let (seconds, attoseconds) = span.duration.components
        let end = start + seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        let flags = (span.context.isSampled ? 1 : 0) + 0x100 + (span.isParentRemote ? 0x200 : 0)
        return [
            "context": context(span.context), "parent": .string(span.parent?.description ?? ""),
            "name": .string(span.name), "kind": .int(span.kind.rawValue),
            "times": [.string("\(start)"), .string("\(end)")],
            "attributes": pairs(attributes),
            "events": .array(
                span.events.map {
                    [.string($0.name), .string("\($0.time.microseconds * 1_000)"), pairs($0.attributes)]
                }),
            "links": .array(
                span.links.map {
                    [context($0.context), .int($0.context.isSampled ? 0x101 : 0x100), pairs($0.attributes)]
                }),
            "status": [.int(code), .string(message)], "flags": .int(flags), "dropped": .int(span.dropped),
        ]
    }

    /// The fields of a data point that the tests compare.
    static func of(_ point: MetricPoint) -> JSON {
        func bits(_ number: Double) -> JSON { .string(Hexadecimal.digits(of: number.bitPattern)) }
        var value: JSONObject = [:]
        switch point.value {
        case .number(let number): value["number"] = bits(number)
        case .distribution(let facts):
            value["count"] = .string("\(facts.count)")
            value["sum"] = facts.sum.map(bits)
            value["min"] = facts.least.map(bits)
            value["max"] = facts.most.map(bits)
        }
        return [
            "metric": [
                .string(point.scope), .string(point.name), .string(point.unit), .string(point.kind.rawValue),
            ],
            "delta": .bool(point.isDelta), "attributes": pairs(point.attributes),
            "time": .string("\(point.time.microseconds * 1_000)"), "value": .object(value),
        ]
    }

    static func context(_ context: TraceContext) -> JSON {
        [.string("\(context.trace)"), .string("\(context.span)"), .string(context.state ?? "")]
    }

    static func pairs(_ attributes: JSONObject) -> JSON {
        .array(attributes.map { [.string($0.key), value($0.value)] })
    }

    private static func value(_ value: JSON) -> JSON {
        switch value {
        case .null: [:]
        case .string(let text), .big(let text): ["s": .string(text)]
        case .bool(let isTrue): ["b": .bool(isTrue)]
        case .int(let number): ["i": .string("\(number)")]
        case .double(let number): ["d": .string(Hexadecimal.digits(of: number.bitPattern))]
        case .array(let values): ["a": .array(values.map { self.value($0) })]
        case .object(let members): ["k": pairs(members)]
        }
    }
}
