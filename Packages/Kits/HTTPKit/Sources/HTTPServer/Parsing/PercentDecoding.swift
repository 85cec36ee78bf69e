import Capabilities

/// Decodes the paths and queries of requests.
enum PercentDecoding {
    /// The decoded text, or nil for a malformed escape, invalid UTF-8, or a NUL.
    static func decode(_ text: Substring, plusIsSpace: Bool = false) -> String? {
        guard let decoded = PercentEncoding.decode(text, plusIsSpace: plusIsSpace), !decoded.utf8.contains(0) else {
            return nil
        }
        return decoded
    }

    /// The name-value pairs of a query; nil when one of them is malformed.
    static func pairs(_ query: String?) -> [(name: String, value: String)]? {
        guard let query, !query.isEmpty else { return [] }
        var pairs: [(name: String, value: String)] = []
        for part in query.split(separator: "&") {
            let equals = part.firstIndex(of: "=")
            let name = part[..<(equals ?? part.endIndex)]
            let value = equals.map { part[part.index(after: $0)...] } ?? ""
            guard let name = decode(name, plusIsSpace: true), let value = decode(value, plusIsSpace: true)
            else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }
}
