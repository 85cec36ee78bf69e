extension SecretShapes {
    private static let schemes: Set<String> = ["bearer", "basic"]
    private static let cookies: Set<String> = ["cookie", "set-cookie"]
    private static let names: Set<String> = [
        "access_token", "refresh_token", "id_token", "token", "auth-token", "auth_token", "api_key", "apikey",
        "api-key", "password", "passwd", "passphrase", "secret", "client_secret", "authorization",
        "proxy-authorization", "cookie", "set-cookie", "code_verifier",
    ]
    /// How names of variables and headers end that hold a secret: `OPENAI_API_KEY`, `x-api-key`.
    private static let endings = [
        "api_key", "api-key", "access_token", "refresh_token", "auth_token", "auth-token", "password", "passphrase",
        "client_secret",
    ]
    private static let longestName = 64

    /// The value that follows a word which introduces a secret: `Bearer x`, `token=x`, `"token": "x"`, `X-Api-Key: x`.
    static func value(in text: [UInt8], after word: Range<Int>) -> Range<Int>? {
        guard word.count <= longestName, word.upperBound < text.count else { return nil }
        let name = name(text[word])
        if schemes.contains(name) {
            guard text[word.upperBound] == UInt8(ascii: " ") else { return nil }
            let value = run(text, from: word.upperBound + 1) { isTokenByte($0) || $0 == 47 || $0 == 61 }
            return value.count >= 8 && !isOrdinary(text[value]) ? value : nil
        }
        guard names.contains(name) || endings.contains(where: name.isEnding) else { return nil }
        var position = word.upperBound
        // A quoted name, also one in a JSON text that is itself a string.
        skip(text, &position) { $0 == UInt8(ascii: "\\") || isQuote($0) }
        let isQuoted = position > word.upperBound
        if isQuoted { skip(text, &position, \.isBlank) }
        guard position < text.count, text[position] == UInt8(ascii: "=") || text[position] == UInt8(ascii: ":") else {
            return nil
        }
        let isAssignment = text[position] == UInt8(ascii: "=")
        position += 1
        skip(text, &position) { $0 == UInt8(ascii: " ") }
        return quotedValue(text, from: position)
            ?? plainValue(text, from: position, isAssignment: isAssignment, isCookie: cookies.contains(name))
    }

    /// In lower case, without what is before its last dot (`auth.token`) and the dashes of an option (`--token`).
    private static func name(_ word: ArraySlice<UInt8>) -> String {
        let last = word.split(separator: UInt8(ascii: ".")).last ?? word
        return String(decoding: last.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }, as: UTF8.self)
            .lowercased()
    }

    /// What stands between quotes, up to the same quote with as many backslashes before it.
    private static func quotedValue(_ text: [UInt8], from start: Int) -> Range<Int>? {
        let afterEscape = text[start...].first == UInt8(ascii: "\\") ? start + 1 : start
        guard afterEscape < text.count, isQuote(text[afterEscape]) else { return nil }
        let quote = text[afterEscape]
        var position = afterEscape + 1
        while position < text.count, text[position] != quote {
            guard text[position] == UInt8(ascii: "\\"), position + 1 < text.count else {
                position += 1
                continue
            }
            if afterEscape > start, text[position + 1] == quote { break }
            position += 2
        }
        let end = min(position, text.count)
        return end > afterEscape + 1 ? (afterEscape + 1)..<end : nil
    }

    /// A value without quotes, which ends at a blank or where another field begins.
    private static func plainValue(
        _ text: [UInt8], from start: Int, isAssignment: Bool, isCookie: Bool
    ) -> Range<Int>? {
        if isCookie {
            // Each cookie of a line may be the one that counts. A sentence about cookies has no assignment.
            let first = text[min(start, text.count)...].prefix(longestName).prefix { !$0.isBlank }
            guard first.contains(UInt8(ascii: "=")) else { return nil }
            return run(text, from: start) { !(10...13).contains($0) && $0 != UInt8(ascii: "\"") }
        }
        let value = run(text, from: start) { !$0.isBlank && !"&\",;".utf8.contains($0) }
        // `Authorization: Bearer x` has its secret behind the scheme.
        if schemes.contains(String(decoding: text[value].prefix(10), as: UTF8.self).lowercased()) { return nil }
        if isAssignment { return value.isEmpty ? nil : value }
        // A sentence may go on after a colon ("the token: it has expired"), so what looks like a word of it stays.
        return value.count >= 12 && (value.count > longestName || !isOrdinary(text[value])) ? value : nil
    }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

    private static func run(_ text: [UInt8], from start: Int, while isPart: (UInt8) -> Bool) -> Range<Int> {
        let start = min(start, text.count)
        return start..<(text[start...].firstIndex { !isPart($0) } ?? text.count)
    }

    private static func skip(_ text: [UInt8], _ position: inout Int, _ isSkipped: (UInt8) -> Bool) {
        while position < text.count, isSkipped(text[position]) { position += 1 }
    }
}

extension String {
    /// Whether a longer name ends with these words.
    fileprivate func isEnding(_ ending: String) -> Bool {
        guard hasSuffix(ending) else { return false }
        let before = utf8.dropLast(ending.utf8.count).last
        return before == nil || before == UInt8(ascii: "_") || before == UInt8(ascii: "-")
    }
}

extension UInt8 {
    var isBlank: Bool { self == 32 || (9...13).contains(self) }
}
