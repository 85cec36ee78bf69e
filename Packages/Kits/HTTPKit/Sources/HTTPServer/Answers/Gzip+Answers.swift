import HTTPCore

/// Which answers are sent in gzip: whole ones, to clients that ask for it.
extension Gzip {
    /// Below this a compressed answer saves nothing: it fits one packet anyway.
    static let smallest = 1 << 10
    /// Above this the work would hold up others for too long.
    static let largest = 8 << 20

    /// Whether a body of that size and kind may be compressed at all.
    static func canCompress(_ count: Int, _ headers: HTTPHeaders) -> Bool {
        count >= smallest && count <= largest && headers["Content-Encoding"] == nil
            && headers["Content-Type"].map(isWorthwhile) ?? false
    }

    /// Whether a client takes gzip: a weight of zero refuses it.
    static func isAccepted(_ header: String?) -> Bool {
        guard let header else { return false }
        var any = false
        for member in header.split(separator: ",") {
            let parts = member.split(separator: ";")
            guard let name = parts.first?.trimmingSpaces.lowercased() else { continue }
            let isRefused = parts.dropFirst().contains { weight in
                let text = weight.trimmingSpaces.lowercased()
                return text.hasPrefix("q=") && Double(text.dropFirst(2)) == 0
            }
            if name == "gzip" || name == "x-gzip" { return !isRefused }
            if name == "*" { any = !isRefused }
        }
        return any
    }

    /// Whether a type is text of some kind; pictures, films and archives are compressed already.
    static func isWorthwhile(_ type: String) -> Bool {
        let name = type.prefix { $0 != ";" }.trimmingSpaces.lowercased()
        return name.hasPrefix("text/") && name != "text/event-stream" || name.hasSuffix("+json")
            || name.hasSuffix("+xml") || types.contains(name)
    }

    private static let types: Set<String> = [
        "application/json", "application/javascript", "application/xml", "application/x-ndjson",
        "application/openapi+json", "application/yaml", "application/wasm",
    ]
}
