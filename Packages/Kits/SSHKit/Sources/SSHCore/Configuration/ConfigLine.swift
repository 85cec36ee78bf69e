/// A line of a file of settings, cut into a keyword and its arguments as `readconf.c` of OpenSSH does it.
struct ConfigLine: Sendable {
    /// Counted from 1.
    let number: Int
    /// With small letters.
    let keyword: String
    /// What follows the keyword, for keywords that take all of it.
    let rest: [UInt8]
    /// Nil if a quote is not closed.
    let arguments: [String]?
    /// Whether it is UTF-8. What we would show and compare is another text otherwise.
    let isText: Bool
    /// The files that it includes.
    var included: [ConfigFile] = []

    /// Nil for an empty line and a comment.
    init?(_ line: ArraySlice<UInt8>, number: Int) {
        // C reads up to the zero byte.
        var line = line.prefix { $0 != 0 }
        while line.count > 1, let last = line.last, Delimited.isBlank(last) || last == 12 { line.removeLast() }
        guard !line.isEmpty else { return nil }
        var delimited = Delimited(line)
        guard var word = delimited.next() else { return nil }
        // There was a blank or an equals sign in front.
        if word.isEmpty {
            guard let next = delimited.next() else { return nil }
            word = next
        }
        guard let first = word.first, first != UInt8(ascii: "#") else { return nil }
        self.number = number
        keyword = ASCII.lowercased(String(decoding: word, as: UTF8.self))
        rest = Array((delimited.rest ?? []).drop(while: Delimited.isBlank))
        arguments = Self.arguments(of: rest)
        isText = String(validating: line, as: UTF8.self) != nil
    }

    /// Cuts a file into its lines.
    static func lines(of bytes: [UInt8]) -> [ConfigLine] {
        var lines: [ConfigLine] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if let line = ConfigLine(line, number: index + 1) { lines.append(line) }
        }
        return lines
    }

    /// Words between blanks, in which quotes of both kinds and some escapes have their meaning. A word that begins with
    /// `#` and all after it is a comment. Nil if a quote is not closed.
    private static func arguments(of bytes: [UInt8]) -> [String]? {
        var arguments: [String] = []
        var place = 0
        while place < bytes.count {
            if isGap(bytes[place]) {
                place += 1
                continue
            }
            if bytes[place] == UInt8(ascii: "#") { break }
            var (word, quote): ([UInt8], UInt8?) = ([], nil)
            while place < bytes.count, quote != nil || !isGap(bytes[place]) {
                let byte = bytes[place]
                if byte == UInt8(ascii: "\\"), let next = escaped(bytes, after: place, inQuotes: quote != nil) {
                    word.append(next)
                    place += 1
                } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    quote = byte
                } else if quote == byte {
                    quote = nil
                } else {
                    word.append(byte)
                }
                place += 1
            }
            guard quote == nil else { return nil }
            arguments.append(String(decoding: word, as: UTF8.self))
        }
        return arguments
    }

    private static func isGap(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

    /// The byte that a backslash stands for together with it. Other backslashes stand for themselves.
    private static func escaped(_ bytes: [UInt8], after place: Int, inQuotes: Bool) -> UInt8? {
        guard place + 1 < bytes.count else { return nil }
        let next = bytes[place + 1]
        let isEscaped = "'\"\\".utf8.contains(next) || !inQuotes && next == 32
        return isEscaped ? next : nil
    }
}

/// Words between blanks, or between a blank and one equals sign, with double quotes: the older of ssh's two ways to cut a
/// line, which it uses for keywords and for `Match`.
struct Delimited {
    /// What was not read yet; nil after the end.
    private(set) var rest: ArraySlice<UInt8>?

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 || byte == 10 }

    /// The next word. Nil at the end, and for a quote that is not closed.
    mutating func next() -> ArraySlice<UInt8>? {
        guard let text = rest else { return nil }
        let (quote, equals) = (UInt8(ascii: "\""), UInt8(ascii: "="))
        guard let end = text.firstIndex(where: { Self.isBlank($0) || $0 == quote || $0 == equals }) else {
            rest = nil
            return text
        }
        if text[end] == quote {
            guard let close = text[(end + 1)...].firstIndex(of: quote) else {
                rest = nil
                return nil
            }
            rest = text[(close + 1)...].drop(while: Self.isBlank)
            return text[..<end] + text[(end + 1)..<close]
        }
        var after = text[(end + 1)...].drop(while: Self.isBlank)
        if text[end] != equals, after.first == equals { after = after.dropFirst().drop(while: Self.isBlank) }
        rest = after
        return text[..<end]
    }
}

/// A file of settings with all that it includes.
struct ConfigFile: Sendable {
    let path: String
    let lines: [ConfigLine]
    /// Whether it belongs to the user, not to the system.
    let isUsers: Bool
}
