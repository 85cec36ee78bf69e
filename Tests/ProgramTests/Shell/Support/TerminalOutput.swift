/// What a program has sent to a terminal, as text and sequences.
struct TerminalOutput {
    /// Every escape sequence, whole.
    private(set) var sequences: [String] = []
    /// Everything else.
    private(set) var text = ""

    init(_ bytes: [UInt8]) {
        let scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        var place = 0
        while place < scalars.count {
            guard scalars[place] == "\u{1B}" || (0x80...0x9F).contains(scalars[place].value) else {
                text.unicodeScalars.append(scalars[place])
                place += 1
                continue
            }
            let end = Self.end(of: scalars, from: place)
            sequences.append(String(String.UnicodeScalarView(scalars[place..<end])))
            place = end
        }
    }

    /// The place after the sequence that begins at a place.
    private static func end(of scalars: [Unicode.Scalar], from start: Int) -> Int {
        guard start + 1 < scalars.count, scalars[start] == "\u{1B}" else { return start + 1 }
        var place = start + 2
        switch scalars[start + 1] {
        case "[":
            while place < scalars.count, !(0x40...0x7E).contains(scalars[place].value) { place += 1 }
            return min(place + 1, scalars.count)
        case "]", "P", "_", "^", "X":
            while place < scalars.count {
                if scalars[place] == "\u{07}" || scalars[place] == "\u{18}" { return place + 1 }
                if scalars[place] == "\u{1B}" { return min(place + 2, scalars.count) }
                place += 1
            }
            return place
        default: return place
        }
    }

    /// The sequences that a full-screen program has no use for, and the invisible characters in the text.
    var strangers: [String] {
        let foreign = sequences.filter { sequence in !Self.own.contains { sequence.wholeMatch(of: $0()) != nil } }
        let hidden = text.unicodeScalars.filter { scalar in
            switch scalar.value {
            case 0x0A, 0x0D, 0x09, 0x18: false
            // BEL rings, which nothing here has a reason for.
            case 0..<0x20, 0x7F, 0x80...0x9F, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFEFF: true
            default: false
            }
        }
        return foreign + hidden.map { "U+" + String($0.value, radix: 16, uppercase: true) }
    }

    /// What the shell sends: positions, erasing, scrolling (also by reverse index), looks, modes, its title, links, and the questions about them.
    private static let own: [@Sendable () -> Regex<Substring>] = [
        { /\e\[[0-9;]*[HGdABCDJKXLMSTr@P]/ }, { /\e\[[0-9;]*m/ }, { /\e\[\?[0-9;]+[hl]/ }, { /\e\[\?[0-9]+\$p/ },
        { /\e\[[<>][0-9;]*[um]/ }, { /\e\[\??[0-9;]*[cnu]/ }, { /\e\[[0-9] q/ }, { /\e\[2[23];[0-9;]*t/ },
        { /\e\][02];[^\x00-\x1F\x7F-\x9F\u{200E}\u{200F}\u{202A}-\u{202E}\u{2066}-\u{2069}]*(?:\e\\|\x07)/ },
        { /\e\]11;\?(?:\e\\|\x07)/ }, { /\e\]8;(?:id=[0-9a-z]+)?;(?:(?:https?|mailto):[\x21-\x7E]*)?\e\\/ },
        { /\e\\/ }, { /\e[=>78M]/ }, { /\e\]9;4;[0-9;]*(?:\e\\|\x07)/ },
    ]
}
