import Capabilities
import JSON

// The numbers are those of opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto, version 1.11.

extension OTLPRequest {
    func writeProtobuf(_ scopes: [(name: String, spans: [TraceSpan])], into bytes: inout [UInt8]) {
        guard !scopes.isEmpty else { return }
        bytes.addMessage(1, lengthBytes: 3) { bytes in
            bytes.addMessage(1) { $0.addAttributes(1, resource.attributes) }
            for scope in scopes {
                bytes.addMessage(2, lengthBytes: 3) { bytes in
                    bytes.addMessage(1) { bytes in
                        bytes.addText(1, scope.name)
                        bytes.addText(2, version ?? "")
                    }
                    for span in scope.spans { bytes.addMessage(2, lengthBytes: 2) { Self.write(span, into: &$0) } }
                }
            }
        }
    }

    private static func write(_ span: TraceSpan, into bytes: inout [UInt8]) {
        let (status, times) = (OTLPStatus(span), span.nanoseconds)
        bytes.addTrace(1, span.context.trace)
        bytes.addSpan(2, span.context.span)
        bytes.addText(3, span.context.state ?? "")
        if let parent = span.parent { bytes.addSpan(4, parent) }
        bytes.addText(5, span.name)
        bytes.addNumber(6, UInt64(span.kind.rawValue))
        bytes.addFixed(7, times.start)
        bytes.addFixed(8, times.end)
        bytes.addAttributes(9, span.attributes, without: status.hidden)
        if let type = status.type { bytes.addAttribute(9, OTLPStatus.errorTypeName, .string(type)) }
        bytes.addNumber(10, UInt64(UInt32(clamping: span.dropped)))
        for event in span.events {
            bytes.addMessage(11) { bytes in
                bytes.addFixed(1, event.time.nanoseconds)
                bytes.addText(2, event.name)
                bytes.addAttributes(3, event.attributes)
            }
        }
        for link in span.links {
            bytes.addMessage(13) { bytes in
                bytes.addTrace(1, link.context.trace)
                bytes.addSpan(2, link.context.span)
                bytes.addText(3, link.context.state ?? "")
                bytes.addAttributes(4, link.attributes)
                bytes.addFixed(6, OTLPFlags.of(link))
            }
        }
        if status.code != 0 {
            bytes.addMessage(15) { bytes in
                bytes.addText(2, status.message)
                bytes.addNumber(3, UInt64(status.code))
            }
        }
        bytes.addFixed(16, OTLPFlags.of(span))
    }
}

extension [UInt8] {
    fileprivate mutating func addTrace(_ field: Int, _ id: TraceID) {
        addTag(field, .bytes)
        append(16)
        addWord(id.words.0.bigEndian)
        addWord(id.words.1.bigEndian)
    }

    fileprivate mutating func addSpan(_ field: Int, _ id: SpanID) {
        addTag(field, .bytes)
        append(8)
        addWord(id.word.bigEndian)
    }

    fileprivate mutating func addAttributes(_ field: Int, _ attributes: JSONObject, without hidden: String? = nil) {
        for (key, value) in attributes where key != hidden { addAttribute(field, key, value) }
    }

    fileprivate mutating func addAttribute(_ field: Int, _ key: String, _ value: JSON) {
        addMessage(field) { bytes in
            bytes.addText(1, key)
            bytes.addMessage(2) { $0.addValue(value) }
        }
    }

    /// The content of an `AnyValue`, which tells its kind, so that it is written even if it is empty or zero.
    private mutating func addValue(_ value: JSON) {
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
