@_spi(Fuzzing)
extension TaggedText {
    /// Reads any bytes as a model's text, whole and in pieces, and says whether the same came of both.
    public static func readsAlike(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        let size = max(1, Int(bytes.first ?? 1) % 17)
        var whole = TagParser(next: 1)
        var (expected, pieces): ([TagParser.Piece], [TagParser.Piece]) = ([], [])
        whole.receive(text, into: &expected)
        whole.finish(into: &expected)
        var parser = TagParser(next: 1)
        var rest = text.unicodeScalars[...]
        while !rest.isEmpty {
            parser.receive(String(rest.prefix(size)), into: &pieces)
            rest = rest.dropFirst(size)
        }
        parser.finish(into: &pieces)
        return joined(pieces) == joined(expected)
    }

    /// With neighbouring texts as one.
    static func joined(_ pieces: [TagParser.Piece]) -> [TagParser.Piece] {
        var joined: [TagParser.Piece] = []
        for piece in pieces {
            if case .text(let more) = piece, case .text(let text)? = joined.last {
                joined[joined.count - 1] = .text(text + more)
            } else {
                joined.append(piece)
            }
        }
        return joined
    }
}
