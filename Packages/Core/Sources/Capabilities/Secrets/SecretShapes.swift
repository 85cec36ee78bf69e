/// What looks like a secret, whoever made it: keys with a known beginning, signed tokens, what follows `Bearer`, the
/// values of telling names, passwords in addresses, private keys.
enum SecretShapes {
    /// Where something stands that looks like a secret. What only introduces it (`Bearer`, `token=`) is no part of it.
    static func ranges(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var word = Word(text, from: 0)
        while let current = word {
            if isKey(text[current.range]) {
                found.append(current.range)
            } else if let value = value(in: text, after: current.range) {
                found.append(value)
            }
            word = Word(text, from: current.range.upperBound)
        }
        return found + passwords(in: text) + privateKeys(in: text)
    }

    /// A run of the bytes that tokens are made of.
    private struct Word {
        let range: Range<Int>

        init?(_ text: [UInt8], from start: Int) {
            guard let first = text[start...].firstIndex(where: SecretShapes.isTokenByte) else { return nil }
            range = first..<(text[first...].firstIndex { !SecretShapes.isTokenByte($0) } ?? text.count)
        }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "+"): true
        default: false
        }
    }

    // MARK: Keys

    /// The beginnings of keys that are in common use, with how long such a key is at least.
    private static let beginnings: [(text: [UInt8], least: Int)] = [
        ("sk-", 20), ("sk_", 20), ("rk_", 20), ("pk_live_", 20), ("ghp_", 30), ("gho_", 30), ("ghu_", 30), ("ghs_", 30),
        ("ghr_", 30), ("github_pat_", 30), ("glpat-", 20), ("xoxb-", 20), ("xoxp-", 20), ("xoxa-", 20), ("xapp-", 20),
        ("hf_", 20), ("AIza", 35), ("AKIA", 20), ("ASIA", 20), ("ya29.", 20), ("npm_", 30), ("pypi-", 30),
        ("dop_v1_", 30),
        ("pat_", 20), ("gsk_", 20), ("xai-", 20),
    ].map { (Array($0.0.utf8), $0.1) }

    private static func isKey(_ word: ArraySlice<UInt8>) -> Bool {
        if word.count >= 40, word.starts(with: "eyJ".utf8), word.count(where: { $0 == UInt8(ascii: ".") }) >= 2 {
            return true
        }
        return beginnings.contains { word.count >= $0.least && word.starts(with: $0.text) }
    }

    // MARK: Values with a name

    private static let schemes: Set<String> = ["bearer", "basic"]
    private static let names: Set<String> = [
        "access_token", "refresh_token", "id_token", "token", "api_key", "apikey", "api-key", "x-api-key", "password",
        "passwd", "passphrase", "secret", "client_secret", "authorization", "cookie", "set-cookie", "code_verifier",
    ]

    /// The value that follows a word which introduces a secret: `Bearer x`, `token=x`, `"token": "x"`, `X-Api-Key: x`.
    private static func value(in text: [UInt8], after name: Range<Int>) -> Range<Int>? {
        guard name.count <= 20, name.upperBound < text.count else { return nil }
        let word = String(decoding: text[name], as: UTF8.self).lowercased()
        var position = name.upperBound
        if schemes.contains(word) {
            guard text[position] == UInt8(ascii: " ") else { return nil }
            return valueRange(text, from: position + 1, least: 8) { isTokenByte($0) || $0 == 47 || $0 == 61 }
        }
        guard names.contains(word) else { return nil }
        if text[position] == UInt8(ascii: "\"") { position += 1 }
        guard position < text.count, text[position] == UInt8(ascii: "=") || text[position] == UInt8(ascii: ":") else {
            return nil
        }
        position += 1
        while position < text.count, text[position] == UInt8(ascii: " ") { position += 1 }
        if position < text.count, text[position] == UInt8(ascii: "\"") {
            return valueRange(text, from: position + 1, least: 1) { $0 != UInt8(ascii: "\"") }
        }
        let rest = text[position...]
        for scheme in schemes
        where String(decoding: rest.prefix(scheme.utf8.count), as: UTF8.self).lowercased() == scheme {
            return nil
        }
        // A sentence may go on after a colon ("the token: it has expired"), so what looks like a word of it stays.
        let isAssignment = text[position - 1] == UInt8(ascii: "=")
        return valueRange(text, from: position, least: isAssignment ? 1 : 12) {
            !$0.isBlank && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: ",")
                && $0 != UInt8(ascii: ";")
        }
    }

    private static func valueRange(
        _ text: [UInt8], from start: Int, least: Int, while isPart: (UInt8) -> Bool
    ) -> Range<Int>? {
        guard start < text.count else { return nil }
        let end = text[start...].firstIndex { !isPart($0) } ?? text.count
        return end - start >= least ? start..<end : nil
    }

    // MARK: Passwords in addresses

    /// What stands between the colon and the at sign of `scheme://user:password@host`.
    private static func passwords(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var position = 0
        while let start = text.firstRange(of: Array("://".utf8), from: position)?.upperBound {
            position = start
            let end = text[start...].firstIndex { $0.isBlank || $0 == 47 || $0 == 34 } ?? text.count
            guard let at = text[start..<end].lastIndex(of: UInt8(ascii: "@")) else { continue }
            let colon = text[start..<at].firstIndex(of: UInt8(ascii: ":"))
            found.append((colon.map { $0 + 1 } ?? start)..<at)
            position = at
        }
        return found.filter { !$0.isEmpty }
    }

    // MARK: Private keys

    private static func privateKeys(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var position = 0
        while let label = text.firstRange(of: Array("PRIVATE KEY-----".utf8), from: position) {
            let end = text.firstRange(of: Array("-----END".utf8), from: label.upperBound)?.lowerBound ?? text.count
            if end > label.upperBound { found.append(label.upperBound..<end) }
            // The closing line ends with the same words.
            position = text.firstRange(of: Array("PRIVATE KEY-----".utf8), from: end)?.upperBound ?? text.count
        }
        return found
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 32 || (9...13).contains(self) }
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
