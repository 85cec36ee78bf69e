/// An address in plain text: `https://…`, `www.…` or `name@host`.
///
/// The library's own extension takes cubic time for some texts; this looks at every byte only a few times.
struct BareAddress {
    var range: Range<String.Index>
    var address: String

    private static let schemes = ["http://", "https://", "www."]
    /// Characters that end a sentence rather than an address.
    private static let closing = Set("?!.,:;*_~'\"".utf8)

    /// The addresses in `text`, at most one in a word.
    static func all(in text: String) -> [BareAddress] {
        let bytes = text.utf8
        guard bytes.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: ".") })
        else { return [] }
        let words = bytes.split { $0 <= UInt8(ascii: " ") || $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: ">") }
        return words.compactMap { web(in: $0) ?? mail(in: $0) }
    }

    private static func web(in word: Substring.UTF8View) -> BareAddress? {
        var isBoundary = true
        for index in word.indices {
            defer { isBoundary = !isWordByte(word[index]) }
            guard isBoundary, let scheme = schemes.first(where: { starts(word[index...], with: $0) }) else { continue }
            let end = end(of: word[index...])
            let host = word[index..<end].dropFirst(scheme.utf8.count)
            guard let first = host.first, isWordByte(first) else { return nil }
            if scheme == "www." && !host.contains(UInt8(ascii: ".")) { return nil }
            let text = String(Substring(word[index..<end]))
            return BareAddress(range: index..<end, address: scheme == "www." ? "http://" + text : text)
        }
        return nil
    }

    private static func mail(in word: Substring.UTF8View) -> BareAddress? {
        guard let at = word.firstIndex(of: UInt8(ascii: "@")) else { return nil }
        var start = at
        while start > word.startIndex, isMailByte(word[word.index(before: start)]) { start = word.index(before: start) }
        let behind = word[word.index(after: at)...]
        var end = behind.prefix(while: isMailByte).endIndex
        while end > behind.startIndex, !isWordByte(word[word.index(before: end)]) { end = word.index(before: end) }
        guard start < at, behind.startIndex < end, word[behind.startIndex..<end].contains(UInt8(ascii: ".")),
            end == word.endIndex || word[end] != UInt8(ascii: "@")
        else { return nil }
        return BareAddress(range: start..<end, address: "mailto:" + String(Substring(word[start..<end])))
    }

    /// The end of an address that may be followed by punctuation of the sentence around it.
    private static func end(of word: Substring.UTF8View) -> String.Index {
        var end = word.endIndex
        var open = 0
        for byte in word { open += byte == UInt8(ascii: "(") ? 1 : byte == UInt8(ascii: ")") ? -1 : 0 }
        while end > word.startIndex {
            let before = word.index(before: end)
            if word[before] == UInt8(ascii: ")") && open < 0 {
                open += 1
            } else if !closing.contains(word[before]) {
                break
            }
            end = before
        }
        return end
    }

    private static func starts(_ word: Substring.UTF8View, with scheme: String) -> Bool {
        var rest = word
        for byte in scheme.utf8 {
            guard let next = rest.popFirst(), next == byte || next | 0x20 == byte else { return false }
        }
        return true
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: false
        }
    }

    private static func isMailByte(_ byte: UInt8) -> Bool {
        isWordByte(byte) && byte < 0x80 || "._+-".utf8.contains(byte)
    }
}
