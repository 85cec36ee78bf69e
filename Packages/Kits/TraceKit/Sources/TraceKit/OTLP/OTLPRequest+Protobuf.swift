import Capabilities
import JSON

// The numbers are those of opentelemetry/proto/{trace,logs,metrics}/v1 and common/v1/common.proto, version 1.11.

extension OTLPRequest {
    func writeProtobuf<Item>(_ scopes: [OTLPScope<Item>], into bytes: inout [UInt8]) {
        guard !scopes.isEmpty else { return }
        bytes.addMessage(1, lengthBytes: 3) { bytes in
            bytes.addMessage(1) { $0.addAttributes(1, resource.attributes) }
            for scope in scopes {
                bytes.addMessage(2, lengthBytes: 3) { bytes in
                    bytes.addMessage(1) { bytes in
                        bytes.addText(1, scope.name)
                        bytes.addText(2, version ?? "")
                    }
                    for item in scope.items { bytes.addMessage(2, lengthBytes: 2) { item.writeProtobuf(into: &$0) } }
                }
            }
        }
    }
}

extension [UInt8] {
    mutating func addTrace(_ field: Int, _ id: TraceID) {
        addTag(field, .bytes)
        append(16)
        addWord(id.words.0.bigEndian)
        addWord(id.words.1.bigEndian)
    }

    mutating func addSpan(_ field: Int, _ id: SpanID) {
        addTag(field, .bytes)
        append(8)
        addWord(id.word.bigEndian)
    }

    mutating func addAttributes(_ field: Int, _ attributes: JSONObject, without hidden: String? = nil) {
        for (key, value) in attributes where key != hidden { addAttribute(field, key, value) }
    }

    mutating func addAttribute(_ field: Int, _ key: String, _ value: JSON) {
        addMessage(field) { bytes in
            bytes.addText(1, key)
            bytes.addMessage(2) { $0.addValue(value) }
        }
    }

    /// The content of an `AnyValue`, which tells its kind, so that it is written even if it is empty or zero.
    mutating func addValue(_ value: JSON) {
        switch value {
        case .null: break
        case .string(let text), .big(let text): addTextAlways(1, text)
        case .bool(let isTrue):
            addTag(2, .varint)
            append(isTrue ? 1 : 0)
        case .int(let number):
            addTag(3, .varint)
            addVarint(UInt64(bitPattern: Int64(number)))
        case .double(let number):
            addTag(4, .fixed64)
            addWord(number.bitPattern)
        case .array(let values):
            addMessage(5) { bytes in
                for value in values { bytes.addMessage(1) { $0.addValue(value) } }
            }
        case .object(let members): addMessage(6) { $0.addAttributes(1, members) }
        }
    }
}
