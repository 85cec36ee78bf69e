import Capabilities
import JSON

// The JSON mapping of OTLP: ids in hexadecimal digits, numbers of 64 bits as texts, enums as numbers.

extension OTLPRequest {
    /// Appends an element of the outermost array, such as `resourceSpans`.
    func writeJSON<Item>(_ scopes: [OTLPScope<Item>], into bytes: inout [UInt8]) {
        bytes.add("{\"resource\":{")
        bytes.addJSONAttributes(resource.attributes, isFirst: true)
        bytes.add("},\"")
        bytes.add(Item.signal.members.scopes)
        bytes.add("\":[")
        for (place, scope) in scopes.enumerated() {
            bytes.add(place == 0 ? "{\"scope\":{\"name\":" : ",{\"scope\":{\"name\":")
            bytes.addJSON(scope.name)
            if let version {
                bytes.add(",\"version\":")
                bytes.addJSON(version)
            }
            bytes.add("},\"")
            bytes.add(Item.signal.members.items)
            bytes.add("\":[")
            for (place, item) in scope.items.enumerated() {
                if place > 0 { bytes.add(",") }
                item.writeJSON(into: &bytes)
            }
            bytes.add("]}")
        }
        bytes.add("]}")
    }
}

extension [UInt8] {
    mutating func addContext(_ context: TraceContext) {
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

    mutating func addJSONAttributes(
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
        addJSONValue(value)
        add("}")
    }

    mutating func addJSONValue(_ value: JSON) {
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
                addJSONValue(value)
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
