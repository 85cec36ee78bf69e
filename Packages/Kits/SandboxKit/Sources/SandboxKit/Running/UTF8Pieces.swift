/// Makes texts of pieces of bytes that may end in the middle of a character.
struct UTF8Pieces: Sendable {
    private var open: [UInt8] = []

    /// The text of another piece, but for a character that it only begins.
    mutating func text(_ bytes: [UInt8]) -> String {
        let all = open.isEmpty ? bytes : open + bytes
        let whole = all.count - Self.unfinished(all)
        open = Array(all[whole...])
        return String(decoding: all[..<whole], as: UTF8.self)
    }

    /// What was left open at the end.
    mutating func rest() -> String {
        defer { open = [] }
        return String(decoding: open, as: UTF8.self)
    }

    /// How many of the last bytes are the beginning of a character that goes on.
    private static func unfinished(_ bytes: [UInt8]) -> Int {
        for back in 1...3 where back <= bytes.count {
            let byte = bytes[bytes.count - back]
            if byte & 0xC0 == 0x80 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > back ? back : 0
        }
        return 0
    }
}
