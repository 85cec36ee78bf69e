/// The parts of a reference to a schema: an address, and a fragment within that document (RFC 3986).
struct ReferenceAddress {
    let address: String
    /// What follows `#`, without percent-encoding; empty if there is nothing.
    let fragment: String

    init(_ text: String) {
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        address = String(parts.first ?? "")
        fragment = parts.count > 1 ? Self.decoded(parts[1]) : ""
    }

    /// The address of a reference that is written in a document with the given address.
    static func resolve(_ reference: String, in base: String) -> String {
        if reference.isEmpty { return base }
        if scheme(of: reference) != nil { return reference }
        let scheme = scheme(of: base) ?? ""
        let rest = base.dropFirst(scheme.count)
        if reference.hasPrefix("//") { return scheme + reference }
        let hasAuthority = rest.hasPrefix("//")
        let authority = hasAuthority ? "//" + rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" } : ""
        if reference.hasPrefix("/") { return scheme + authority + withoutDots(reference) }
        let path = rest.dropFirst(authority.count).prefix { $0 != "?" }
        if reference.hasPrefix("?") { return scheme + authority + path + reference }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? (hasAuthority ? "/" : "")
        return scheme + authority + withoutDots(folder + reference)
    }

    /// `https:`, if the address begins with a scheme.
    private static func scheme(of address: String) -> Substring? {
        guard let colon = address.firstIndex(of: ":") else { return nil }
        let name = address[..<colon]
        let isName = name.utf8.allSatisfy { byte in
            ("a"..."z").contains(Unicode.Scalar(byte | 0x20)) || ("0"..."9").contains(Unicode.Scalar(byte))
                || [0x2B, 0x2D, 0x2E].contains(byte)
        }
        return isName && !name.isEmpty && name.first?.isLetter == true ? address[...colon] : nil
    }

    private static func withoutDots(_ path: String) -> String {
        let query = path.firstIndex(of: "?") ?? path.endIndex
        var kept: [Substring] = []
        let parts = path[..<query].split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part {
            case ".": if isLast { kept.append("") }
            case "..":
                if kept.count > 1 { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(part)
            }
        }
        return kept.joined(separator: "/") + path[query...]
    }

    private static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let code = UInt8(digits, radix: 16) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
