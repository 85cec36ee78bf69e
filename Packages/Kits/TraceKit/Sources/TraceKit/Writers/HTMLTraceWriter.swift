import Capabilities
import JSON

/// Writes one page with a waterfall of each trace, which needs no network. The spans are data in the page, in which nothing can
/// end their element; the page's policy lets only its own program and style run, by their digests.
struct HTMLTraceWriter: TraceWriter {
    /// A browser holds all spans of the page, so that there is a limit, which the page names.
    private let most: Int
    private var count = 0
    private var line: [UInt8] = []

    init(most: Int = 50_000) { self.most = most }

    func begin(into bytes: inout [UInt8]) {
        bytes.add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        bytes.add("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; ")
        bytes.add("form-action 'none'; style-src '\(HTMLTracePage.styleDigest)'; ")
        bytes.add("script-src '\(HTMLTracePage.scriptDigest)'\">\n")
        bytes.add("<meta name=\"viewport\" content=\"width=device-width\">\n<title>Traces</title>\n<style>")
        bytes.add(HTMLTracePage.style)
        bytes.add("</style>\n</head>\n<body>\n")
        bytes.add(HTMLTracePage.body)
        bytes.add("<script type=\"application/json\" id=\"data\">{\"spans\":[")
    }

    mutating func write(_ span: TraceSpan, of resource: TraceResource, into bytes: inout [UInt8]) {
        count += 1
        guard count <= most else { return }
        line.removeAll(keepingCapacity: true)
        SpanLine.write(span, into: &line)
        // The closing brace makes room for one more member.
        line.removeLast(2)
        line.add(",\"service\":")
        line.addJSON(resource.service)
        bytes.add(count == 1 ? "\n" : ",\n")
        for byte in line {
            // Only strings have this, where an escape stands for it. Without it no tag and no comment begins.
            if byte == UInt8(ascii: "<") { bytes.add("\\u003c") } else { bytes.append(byte) }
        }
        bytes.add("}")
    }

    func end(into bytes: inout [UInt8]) {
        bytes.add("\n],\"total\":")
        bytes.addDecimal(Int64(count))
        bytes.add("}</script>\n<script>")
        bytes.add(HTMLTracePage.script)
        bytes.add("</script>\n</body>\n</html>\n")
    }
}
