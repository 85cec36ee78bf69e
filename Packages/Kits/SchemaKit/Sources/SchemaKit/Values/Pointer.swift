import Capabilities

/// JSON pointers (RFC 6901).
enum Pointer {
    /// Longer names are cut where a place is shown, because they come from the value or the schema.
    private static let longestName = 100

    /// A name as one step of a pointer that is shown.
    static func escape(_ name: String) -> String {
        let bytes = name.utf8
        let isPlain =
            bytes.count <= longestName && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F && $0 != 0x7E }
        if isPlain { return name }
        let start = String(name.unicodeScalars.prefix(longestName))
        let escaped = start.replacing("~", with: "~0").replacing("/", with: "~1")
        return PlainText.escape(start.utf8.count < bytes.count ? escaped + "…" : escaped)
    }

    /// The names of a pointer; nil if it is none.
    static func names(_ pointer: String) -> [String]? {
        if pointer.isEmpty { return [] }
        guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
        return pointer.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(Substring($0)).replacing("~1", with: "/").replacing("~0", with: "~")
        }
    }
}
