import Capabilities
import JSON

// The JSON mapping of OTLP: ids in hexadecimal digits, numbers of 64 bits as texts, enums as numbers.

extension OTLPRequest {
    /// Appends an element of `resourceSpans`.
    func writeJSON(_ scopes: [(name: String, spans: [TraceSpan])], into bytes: inout [UInt8]) {
        bytes.add("{\"resource\":{")
        bytes.addAttributes(resource.attributes, isFirst: true)
        bytes.add("},\"scopeSpans\":[")
        for (place, scope) in scopes.enumerated() {
            bytes.add(place == 0 ? "{\"scope\":{\"name\":" : ",{\"scope\":{\"name\":")
            bytes.addJSON(scope.name)
            if let version {
                bytes.add(",\"version\":")
                bytes.addJSON(version)
            }
            bytes.add("},\"spans\":[")
            for (place, span) in scope.spans.enumerated() {
                if place > 0 { bytes.add(",") }
                Self.write(span, into: &bytes)
            }
            bytes.add("]}")
        }
        bytes.add("]}")
    }

    private static func write(_ span: TraceSpan, into bytes: inout [UInt8]) {
        let (status, times) = (OTLPStatus(span), span.nanoseconds)
        bytes.add("{")
        bytes.addContext(span.context)
        if let parent = span.parent {
            bytes.add(",\"parentSpanId\":\"")
            bytes.addHexadecimal(parent.word)
            bytes.add("\"")
        }
        bytes.add(",\"name\":")
        bytes.addJSON(span.name)
        bytes.add(",\"kind\":")
        bytes.addDecimal(Int64(span.kind.rawValue))
        bytes.add(",\"startTimeUnixNano\":\"")
        bytes.addDecimal(times.start)
        bytes.add("\",\"endTimeUnixNano\":\"")
        bytes.addDecimal(times.end)
        bytes.add("\"")
        bytes.addAttributes(
            span.attributes, without: status.hidden, with: status.type.map { (OTLPStatus.errorTypeName, .string($0)) })
        if span.dropped > 0 {
            bytes.add(",\"droppedAttributesCount\":")
            bytes.addDecimal(Int64(UInt32(clamping: span.dropped)))
        }
        if !span.events.isEmpty { write(span.events, into: &bytes) }
        if !span.links.isEmpty { write(span.links, into: &bytes) }
        if status.code != 0 {
            bytes.add(",\"status\":{\"message\":")
            bytes.addJSON(status.message)
            bytes.add(",\"code\":")
            bytes.addDecimal(Int64(status.code))
            bytes.add("}")
        }
        bytes.add(",\"flags\":")
        bytes.addDecimal(Int64(OTLPFlags.of(span)))
        bytes.add("}")
    }

    private static func write(_ events: [TraceSpan.Event], into bytes: inout [UInt8]) {
        bytes.add(",\"events\":[")
        for (place, event) in events.enumerated() {
            bytes.add(place == 0 ? "{\"timeUnixNano\":\"" : ",{\"timeUnixNano\":\"")
            bytes.addDecimal(event.time.nanoseconds)
            bytes.add("\",\"name\":")
            bytes.addJSON(event.name)
            bytes.addAttributes(event.attributes)
            bytes.add("}")
        }
        bytes.add("]")
    }

    private static func write(_ links: [TraceSpan.Link], into bytes: inout [UInt8]) {
        bytes.add(",\"links\":[")
        for (place, link) in links.enumerated() {
            bytes.add(place == 0 ? "{" : ",{")
            bytes.addContext(link.context)
            bytes.addAttributes(link.attributes)
            bytes.add(",\"flags\":")
            bytes.addDecimal(Int64(OTLPFlags.of(link)))
            bytes.add("}")
        }
        bytes.add("]")
    }
}

extension [UInt8] {
    fileprivate mutating func addContext(_ context: TraceContext) {
        add("\"traceId\":\"")
        addHexadecimal(context.trace.words.0)
        addHexadecimal(context.trace.words.1)
        add("\",\"spanId\":\"")
        addHexadecimal(context.span.word)
        add("\"")
        if let state = context.state {
            add(",\"traceState\":")
            addJSON(state)
        }
    }

    fileprivate mutating func addAttributes(
        _ attributes: JSONObject, isFirst: Bool = false, without hidden: String? = nil, with more: (String, JSON)? = nil
    ) {
        add(isFirst ? "\"attributes\":" : ",\"attributes\":")
        addPairs(attributes, without: hidden, with: more)
    }

    private mutating func addPairs(
        _ attributes: JSONObject, without hidden: String? = nil, with more: (String, JSON)? = nil
    ) {
        add("[")
        var isFirst = true
        for (key, value) in attributes where key != hidden { addPair(key, value, &isFirst) }
        if let more { addPair(more.0, more.1, &isFirst) }
        add("]")
    }

    private mutating func addPair(_ key: String, _ value: JSON, _ isFirst: inout Bool) {
        add(isFirst ? "{\"key\":" : ",{\"key\":")
        isFirst = false
        addJSON(key)
        add(",\"value\":")
        addValue(value)
        add("}")
    }

    private mutating func addValue(_ value: JSON) {
        switch value {
        case .null: return add("{}")
        case .string(let text), .big(let text):
            add("{\"stringValue\":")
            addJSON(text)
        case .bool(let isTrue): add(isTrue ? "{\"boolValue\":true" : "{\"boolValue\":false")
        case .int(let number):
            add("{\"intValue\":\"")
            addDecimal(Int64(number))
            add("\"")
        case .double(let number):
            add("{\"doubleValue\":")
            number.isFinite ? value.write(into: &self) : addJSON(number.word)
        case .array(let values):
            add("{\"arrayValue\":{\"values\":[")
            for (place, value) in values.enumerated() {
                if place > 0 { add(",") }
                addValue(value)
            }
            add("]}")
        case .object(let members):
            add("{\"kvlistValue\":{\"values\":")
            addPairs(members)
            add("}")
        }
        add("}")
    }
}
