/// What looks like a secret, whoever made it: keys with a known beginning, signed tokens, what follows `Bearer`, the
/// values of telling names, passwords in addresses, private keys.
enum SecretShapes {
    /// Where something stands that looks like a secret. What only introduces it (`Bearer`, `token=`) is no part of it.
    static func ranges(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var position = 0
        while let word = word(in: text, from: position) {
            position = word.upperBound
            if isKey(text[word]) {
                found.append(word)
            } else if let value = value(in: text, after: word) {
                found.append(value)
                // What stands in a value is not looked at again, or a hostile text would be read over and over.
                position = value.upperBound
            }
        }
        return found + passwords(in: text) + privateKeys(in: text)
    }

    /// Where something stands that can hardly be anything else: keys with a known beginning, signed tokens, private keys.
    static func certain(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var position = 0
        while let word = word(in: text, from: position) {
            position = word.upperBound
            if isKey(text[word]) { found.append(word) }
        }
        return found + privateKeys(in: text)
    }

    /// Where at the end of a text a key may begin of which not all is there; its end where none does.
    static func beginning(atEndOf text: [UInt8]) -> Int {
        var start = text.count
        while start > 0, isTokenByte(text[start - 1]) { start -= 1 }
        let word = text[start...]
        let signs = beginnings.map(\.text) + ["eyJ", "AKIA", "ASIA", "-----BEGIN"].map { Array($0.utf8) }
        let isOpen = !word.isEmpty && signs.contains { word.starts(with: $0) || $0.starts(with: word) }
        return min(isOpen ? start : text.count, privateKey(atEndOf: text))
    }

    /// The next run of the bytes that tokens are made of.
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

    /// The beginnings of keys that are in common use, with how long such a key is at least.
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

    /// Whether it could stand in a sentence: letters in the case of a word, with hyphens and what ends a sentence.
    static func isOrdinary(_ word: ArraySlice<UInt8>) -> Bool {
        let marks = "-'.,:;!?()/\u{60}".utf8
        guard word.allSatisfy({ isLetter($0) || marks.contains($0) }) else { return false }
        return word.split(whereSeparator: { !isLetter($0) }).allSatisfy { part in
            part.dropFirst().allSatisfy { !(65...90).contains($0) } || part.allSatisfy { !(97...122).contains($0) }
        }
    }

    /// Letters of other alphabets stand for themselves.
    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte) || byte >= 128
    }
}
