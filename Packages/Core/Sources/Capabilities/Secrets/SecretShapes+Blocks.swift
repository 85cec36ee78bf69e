extension SecretShapes {
    /// What stands between the colon and the at sign of `scheme://user:password@host`. A lone user of a web address is
    /// a key as often as not; elsewhere (`ssh://git@host`) it is a name.
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

    /// Where a private key begins that has not ended; the end of the text where none does.
    static func privateKey(atEndOf text: [UInt8]) -> Int {
        let dashes = Array("-----".utf8)
        var position = 0
        while let begin = text.firstRange(of: dashes + Array("BEGIN".utf8), from: position) {
            position = begin.upperBound
            let line = text[position...].prefix { $0 != UInt8(ascii: "\n") }
            let isKey = String(decoding: line, as: UTF8.self).contains("PRIVATE KEY")
            let isOpen = position + line.count == text.count && line.count <= 64
            // Another kind, such as a certificate, is no secret.
            guard isKey || isOpen else { continue }
            guard let end = text.firstRange(of: dashes + Array("END".utf8), from: position),
                let last = text.firstRange(of: dashes, from: end.upperBound)
            else { return begin.lowerBound }
            position = last.upperBound
        }
        return text.count
    }

    /// What stands between the lines of a private key.
    static func privateKeys(in text: [UInt8]) -> [Range<Int>] {
        let (dashes, closing) = (Array("-----".utf8), Array("-----END".utf8))
        var found: [Range<Int>] = []
        var position = 0
        while let begin = label(in: text, from: position) {
            let end = text.firstRange(of: closing, from: begin.upperBound)
            let last = end?.lowerBound ?? text.count
            if last > begin.upperBound { found.append(begin.upperBound..<last) }
            // The closing line has the same words, so that the search goes on behind it.
            position = end.flatMap { text.firstRange(of: dashes, from: $0.upperBound)?.upperBound } ?? text.count
        }
        return found
    }

    /// The end of the line that begins a private key. PGP's armour ends it otherwise than PEM: "BEGIN PGP PRIVATE KEY BLOCK:
    /// Used for armoring Transferable Secret Keys" (RFC 9580, 6.2.1).
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
