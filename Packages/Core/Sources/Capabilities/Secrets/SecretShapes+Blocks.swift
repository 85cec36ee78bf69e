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
        let label = Array("PRIVATE KEY-----".utf8)
        var found: [Range<Int>] = []
        var position = 0
        while let begin = text.firstRange(of: label, from: position) {
            let end = text.firstRange(of: Array("-----END".utf8), from: begin.upperBound)?.lowerBound ?? text.count
            if end > begin.upperBound { found.append(begin.upperBound..<end) }
            // The closing line ends with the same words.
            position = text.firstRange(of: label, from: end)?.upperBound ?? text.count
        }
        return found
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
