import Capabilities
import JSON

/// Writes a table with a row a span (RFC 4180). A text that a spreadsheet would take for a formula begins with an apostrophe.
struct CSVTraceWriter: TraceWriter {
    func begin(into bytes: inout [UInt8]) {
        bytes.add(
            "start,duration_ms,name,scope,service,kind,failure,trace_id,span_id,parent_id,events,dropped,attributes\r\n"
        )
    }

    func write(_ span: TraceSpan, of resource: TraceResource, into bytes: inout [UInt8]) {
        bytes.add(span.start.iso8601)
        bytes.add(",")
        bytes.addThousandths(span.duration.wholeNanoseconds / 1_000)
        for text in [span.name, span.feature, resource.service] {
            bytes.add(",")
            Self.write(text, into: &bytes)
        }
        bytes.add(",")
        bytes.add(span.kind.literal)
        bytes.add(",")
        Self.write(span.failure ?? "", into: &bytes)
        bytes.add(",")
        bytes.addHexadecimal(span.context.trace.words.0)
        bytes.addHexadecimal(span.context.trace.words.1)
        bytes.add(",")
        bytes.addHexadecimal(span.context.span.word)
        bytes.add(",")
        if let parent = span.parent { bytes.addHexadecimal(parent.word) }
        for number in [span.events.count, span.dropped] {
            bytes.add(",")
            bytes.addDecimal(Int64(number))
        }
        bytes.add(",")
        if !span.attributes.isEmpty {
            var attributes: [UInt8] = []
            attributes.addJSON(span.attributes)
            Self.write(attributes, into: &bytes)
        }
        bytes.add("\r\n")
    }

    func end(into bytes: inout [UInt8]) {}

    private static func write(_ text: String, into bytes: inout [UInt8]) {
        if let first = text.utf8.first, "=+-@\t\r".utf8.contains(first) {
            write("'".utf8 + Array(text.utf8), into: &bytes)
        } else {
            write(Array(text.utf8), into: &bytes)
        }
    }

    /// "Fields containing line breaks (CRLF), double quotes, and commas should be enclosed in double-quotes."
    private static func write(_ text: [UInt8], into bytes: inout [UInt8]) {
        guard text.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else {
            return bytes += text
        }
        bytes.append(0x22)
        for byte in text {
            if byte == 0x22 { bytes.append(0x22) }
            bytes.append(byte)
        }
        bytes.append(0x22)
    }
}

extension [UInt8] {
    /// Appends a number of thousandths with three decimals.
    mutating func addThousandths(_ number: Int64) {
        if number < 0 { add("-") }
        addDecimal(number.magnitude / 1_000)
        let rest = number.magnitude % 1_000
        add(rest < 10 ? ".00" : rest < 100 ? ".0" : ".")
        addDecimal(rest)
    }
}
