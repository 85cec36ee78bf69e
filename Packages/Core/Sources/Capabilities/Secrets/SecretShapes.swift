/// Finds text that looks like a secret: keys with a known prefix, signed tokens, what follows `Bearer`, values of names
/// such as `token`, passwords in URLs, and private keys.
enum SecretShapes {
    /// The ranges of text that looks like a secret. Introductions such as `Bearer` or `token=` are not part of them.
    static func ranges(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var position = 0
        while let word = word(in: text, from: position) {
            position = word.upperBound
            if isKey(text[word]) {
                found.append(word)
            } else if let value = value(in: text, after: word) {
                found.append(value)
                // A value is not searched again, because hostile text could otherwise be searched over and over.
                position = value.upperBound
            }
        }
        return found + passwords(in: text) + privateKeys(in: text)
    }

    /// The ranges that can hardly be anything else: keys with a known prefix, signed tokens, private keys.
    static func certain(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var position = 0
        while let word = word(in: text, from: position) {
            position = word.upperBound
            if isKey(text[word]) { found.append(word) }
        }
        return found + privateKeys(in: text)
    }

    /// Where an incomplete key may begin at the end of a text; the end of the text if none does.
    static func beginning(atEndOf text: [UInt8]) -> Int {
        var start = text.count
        while start > 0, isTokenByte(text[start - 1]) { start -= 1 }
        let word = text[start...]
        let signs = beginnings.map(\.text) + ["eyJ", "AKIA", "ASIA", "-----BEGIN"].map { Array($0.utf8) }
        let isOpen = !word.isEmpty && signs.contains { word.starts(with: $0) || $0.starts(with: word) }
        return min(isOpen ? start : text.count, privateKey(atEndOf: text))
    }

    /// The next run of token bytes.
    private static func word(in text: [UInt8], from start: Int) -> Range<Int>? {
        guard let first = text[start...].firstIndex(where: isTokenByte) else { return nil }
        return first..<(text[first...].firstIndex { !isTokenByte($0) } ?? text.count)
    }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "+"): true
        default: false
        }
    }

    // MARK: Keys

    /// The prefixes of common keys, with the minimum length of such a key.
    private static let beginnings: [(text: [UInt8], least: Int)] = [
        ("sk-", 20), ("sk_", 20), ("rk_", 20), ("pk_live_", 20), ("ghp_", 30), ("gho_", 30), ("ghu_", 30), ("ghs_", 30),
        ("ghr_", 30), ("github_pat_", 30), ("glpat-", 20), ("xoxb-", 20), ("xoxp-", 20), ("xoxa-", 20), ("xapp-", 20),
        ("hf_", 20), ("AIza", 35), ("ya29.", 20), ("npm_", 30), ("pypi-", 30), ("dop_v1_", 30), ("pat_", 20),
        ("gsk_", 20), ("xai-", 20),
    ].map { (Array($0.0.utf8), $0.1) }

    private static func isKey(_ word: ArraySlice<UInt8>) -> Bool {
        if word.count >= 40, word.starts(with: "eyJ".utf8), word.count(where: { $0 == UInt8(ascii: ".") }) >= 2 {
            return true
        }
        if word.starts(with: "AKIA".utf8) || word.starts(with: "ASIA".utf8) {
            return word.count >= 20 && word.prefix(20).allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
        }
        return beginnings.contains { word.count >= $0.least && word.starts(with: $0.text) }
    }

    // MARK: Words

    /// Whether the word could be part of a sentence: letters with the case of a word, hyphens and punctuation.
    static func isOrdinary(_ word: ArraySlice<UInt8>) -> Bool {
        let marks = "-'.,:;!?()/\u{60}".utf8
        guard word.allSatisfy({ isLetter($0) || marks.contains($0) }) else { return false }
        return word.split(whereSeparator: { !isLetter($0) }).allSatisfy { part in
            part.dropFirst().allSatisfy { !(65...90).contains($0) } || part.allSatisfy { !(97...122).contains($0) }
        }
    }

    /// Bytes of other alphabets count as letters.
    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte) || byte >= 128
    }
}

extension SecretShapes {
    /// The text between the colon and the at sign of `scheme://user:password@host`. A user without a password in a web
    /// address is often a key; elsewhere (`ssh://git@host`) it is a name.
    static func passwords(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var position = 0
        while let mark = text.firstRange(of: Array("://".utf8), from: position) {
            let start = mark.upperBound
            position = start
            let end = text[start...].firstIndex { $0.isBlank || "/?#\"'<>".utf8.contains($0) } ?? text.count
            guard let at = text[start..<end].lastIndex(of: UInt8(ascii: "@")) else { continue }
            position = at
            if let colon = text[start..<at].firstIndex(of: UInt8(ascii: ":")) {
                found.append((colon + 1)..<at)
            } else if isWeb(text[max(0, mark.lowerBound - 5)..<mark.lowerBound]) {
                found.append(start..<at)
            }
        }
        return found.filter { !$0.isEmpty }
    }

    private static func isWeb(_ scheme: ArraySlice<UInt8>) -> Bool {
        let scheme = String(decoding: scheme, as: UTF8.self).lowercased()
        return scheme.hasSuffix("http") || scheme.hasSuffix("https")
    }

    /// Where a private key begins that has not ended; the end of the text if there is none.
    static func privateKey(atEndOf text: [UInt8]) -> Int {
        let dashes = Array("-----".utf8)
        var position = 0
        while let begin = text.firstRange(of: dashes + Array("BEGIN".utf8), from: position) {
            position = begin.upperBound
            let line = text[position...].prefix { $0 != UInt8(ascii: "\n") }
            let isKey = String(decoding: line, as: UTF8.self).contains("PRIVATE KEY")
            let isOpen = position + line.count == text.count && line.count <= 64
            // Another kind, such as a certificate, is not a secret.
            guard isKey || isOpen else { continue }
            guard let end = text.firstRange(of: dashes + Array("END".utf8), from: position),
                let last = text.firstRange(of: dashes, from: end.upperBound)
            else { return begin.lowerBound }
            position = last.upperBound
        }
        return text.count
    }

    /// The text between the lines of a private key.
    static func privateKeys(in text: [UInt8]) -> [Range<Int>] {
        let (dashes, closing) = (Array("-----".utf8), Array("-----END".utf8))
        var found: [Range<Int>] = []
        var position = 0
        while let begin = label(in: text, from: position) {
            let end = text.firstRange(of: closing, from: begin.upperBound)
            let last = end?.lowerBound ?? text.count
            if last > begin.upperBound { found.append(begin.upperBound..<last) }
            // The closing line contains the same words, so the search continues after it.
            position = end.flatMap { text.firstRange(of: dashes, from: $0.upperBound)?.upperBound } ?? text.count
        }
        return found
    }

    /// The end of the line that begins a private key. PGP ends that line differently from PEM: "BEGIN PGP PRIVATE KEY
    /// BLOCK: Used for armoring Transferable Secret Keys" (RFC 9580, 6.2.1).
    private static func label(in text: [UInt8], from start: Int) -> Range<Int>? {
        let words = Array("PRIVATE KEY".utf8)
        var position = start
        while let key = text.firstRange(of: words, from: position) {
            for ending in ["-----", " BLOCK-----"] where text[key.upperBound...].starts(with: ending.utf8) {
                return key.lowerBound..<(key.upperBound + ending.utf8.count)
            }
            position = key.upperBound
        }
        return nil
    }
}

extension [UInt8] {
    fileprivate func firstRange(of pattern: [UInt8], from start: Int) -> Range<Int>? {
        guard start <= count, let first = pattern.first else { return nil }
        var position = start
        while let index = self[position...].firstIndex(of: first), index + pattern.count <= count {
            if self[index..<(index + pattern.count)].elementsEqual(pattern) { return index..<(index + pattern.count) }
            position = index + 1
        }
        return nil
    }
}

extension SecretShapes {
    private static let schemes: Set<String> = ["bearer", "basic"]
    private static let cookies: Set<String> = ["cookie", "set-cookie"]
    private static let names: Set<String> = [
        "access_token", "refresh_token", "id_token", "token", "auth-token", "auth_token", "api_key", "apikey",
        "api-key", "password", "passwd", "passphrase", "secret", "client_secret", "authorization",
        "proxy-authorization", "cookie", "set-cookie", "code_verifier",
    ]
    /// The endings of variable and header names that hold a secret: `OPENAI_API_KEY`, `x-api-key`.
    private static let endings = [
        "api_key", "api-key", "access_token", "refresh_token", "auth_token", "auth-token", "password", "passphrase",
        "client_secret",
    ]
    private static let longestName = 64

    /// The value after a word that introduces a secret: `Bearer x`, `token=x`, `"token": "x"`, `X-Api-Key: x`.
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
        // A quoted name, also inside JSON text that is itself a string.
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

    /// In lower case, without the part before the last dot (`auth.token`) and without the dashes of an option
    /// (`--token`).
    private static func name(_ word: ArraySlice<UInt8>) -> String {
        let last = word.split(separator: UInt8(ascii: ".")).last ?? word
        return String(decoding: last.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }, as: UTF8.self)
            .lowercased()
    }

    /// The text between quotes, up to the same quote with the same number of backslashes before it.
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

    /// A value without quotes, which ends at a space or where another field begins.
    private static func plainValue(
        _ text: [UInt8], from start: Int, isAssignment: Bool, isCookie: Bool
    ) -> Range<Int>? {
        if isCookie {
            // Any cookie of the line may be the important one. A sentence about cookies has no assignment.
            let first = text[min(start, text.count)...].prefix(longestName).prefix { !$0.isBlank }
            guard first.contains(UInt8(ascii: "=")) else { return nil }
            return run(text, from: start) { !(10...13).contains($0) && $0 != UInt8(ascii: "\"") }
        }
        let value = run(text, from: start) { !$0.isBlank && !"&\",;".utf8.contains($0) }
        // In `Authorization: Bearer x` the secret follows the scheme.
        if schemes.contains(String(decoding: text[value].prefix(10), as: UTF8.self).lowercased()) { return nil }
        if isAssignment { return value.isEmpty ? nil : value }
        // A sentence may continue after a colon ("the token: it has expired"), so ordinary words stay.
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
    /// Whether a name ends with these words.
    fileprivate func isEnding(_ ending: String) -> Bool {
        guard hasSuffix(ending) else { return false }
        let before = utf8.dropLast(ending.utf8.count).last
        return before == nil || before == UInt8(ascii: "_") || before == UInt8(ascii: "-")
    }
}

extension UInt8 {
    var isBlank: Bool { self == 32 || (9...13).contains(self) }
}
