import Capabilities
import JSON

extension TraceSpan: OTLPItem {
    static var signal: OTLPSignal { .traces }
    var scopeName: String { feature }

    func writeProtobuf(into bytes: inout [UInt8]) {
        let (status, times) = (OTLPStatus(self), nanoseconds)
        bytes.addTrace(1, context.trace)
        bytes.addSpan(2, context.span)
        bytes.addText(3, context.state ?? "")
        if let parent { bytes.addSpan(4, parent) }
        bytes.addText(5, name)
        bytes.addNumber(6, UInt64(kind.rawValue))
        bytes.addFixed(7, times.start)
        bytes.addFixed(8, times.end)
        bytes.addAttributes(9, attributes, without: status.hidden)
        if let type = status.type { bytes.addAttribute(9, OTLPStatus.errorTypeName, .string(type)) }
        bytes.addNumber(10, UInt64(UInt32(clamping: dropped)))
        for event in events {
            bytes.addMessage(11) { bytes in
                bytes.addFixed(1, event.time.nanoseconds)
                bytes.addText(2, event.name)
                bytes.addAttributes(3, event.attributes)
            }
        }
        for link in links {
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
        bytes.addFixed(16, OTLPFlags.of(self))
    }

    func writeJSON(into bytes: inout [UInt8]) {
        let (status, times) = (OTLPStatus(self), nanoseconds)
        bytes.add("{")
        bytes.addContext(context)
        if let parent {
            bytes.add(",\"parentSpanId\":\"")
            bytes.addHexadecimal(parent.word)
            bytes.add("\"")
        }
        bytes.add(",\"name\":")
        bytes.addJSON(name)
        bytes.add(",\"kind\":")
        bytes.addDecimal(Int64(kind.rawValue))
        bytes.add(",\"startTimeUnixNano\":\"")
        bytes.addDecimal(times.start)
        bytes.add("\",\"endTimeUnixNano\":\"")
        bytes.addDecimal(times.end)
        bytes.add("\"")
        bytes.addJSONAttributes(
            attributes, without: status.hidden, with: status.type.map { (OTLPStatus.errorTypeName, .string($0)) })
        if dropped > 0 {
            bytes.add(",\"droppedAttributesCount\":")
            bytes.addDecimal(Int64(UInt32(clamping: dropped)))
        }
        if !events.isEmpty { Self.write(events, into: &bytes) }
        if !links.isEmpty { Self.write(links, into: &bytes) }
        if status.code != 0 {
            bytes.add(",\"status\":{\"message\":")
            bytes.addJSON(status.message)
            bytes.add(",\"code\":")
            bytes.addDecimal(Int64(status.code))
            bytes.add("}")
        }
        bytes.add(",\"flags\":")
        bytes.addDecimal(Int64(OTLPFlags.of(self)))
        bytes.add("}")
    }

    private static func write(_ events: [TraceSpan.Event], into bytes: inout [UInt8]) {
        bytes.add(",\"events\":[")
        for (place, event) in events.enumerated() {
            bytes.add(place == 0 ? "{\"timeUnixNano\":\"" : ",{\"timeUnixNano\":\"")
            bytes.addDecimal(event.time.nanoseconds)
            bytes.add("\",\"name\":")
            bytes.addJSON(event.name)
            bytes.addJSONAttributes(event.attributes)
            bytes.add("}")
        }
        bytes.add("]")
    }

    private static func write(_ links: [TraceSpan.Link], into bytes: inout [UInt8]) {
        bytes.add(",\"links\":[")
        for (place, link) in links.enumerated() {
            bytes.add(place == 0 ? "{" : ",{")
            bytes.addContext(link.context)
            bytes.addJSONAttributes(link.attributes)
            bytes.add(",\"flags\":")
            bytes.addDecimal(Int64(OTLPFlags.of(link)))
            bytes.add("}")
        }
        bytes.add("]")
    }
}
