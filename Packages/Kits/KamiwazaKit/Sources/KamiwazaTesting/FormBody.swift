import Capabilities
import HTTPServer

/// The name-value pairs of a URL-encoded form.
struct FormBody: Sendable {
    private var pairs: [String: String] = [:]

    init(_ body: RequestBody) async throws {
        let text = String(decoding: try await body.bytes(), as: UTF8.self)
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            pairs[Self.decode(parts[0])] = parts.count == 2 ? Self.decode(parts[1]) : ""
        }
    }

    subscript(name: String) -> String? { pairs[name] }

    private static func decode(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(32)
            } else if byte == UInt8(ascii: "%"), let value = UInt8(String(Substring(rest.prefix(2))), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Encodes name-value pairs for a URL's query.
enum Query {
    static func text(_ pairs: [(String, String?)]) -> String {
        pairs.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }.joined(separator: "&")
    }
}
