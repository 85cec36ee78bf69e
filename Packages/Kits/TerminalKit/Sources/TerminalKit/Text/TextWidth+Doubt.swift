import CUTF8Proc

extension TextWidth {
    /// Whether terminals disagree about the columns that one grapheme takes.
    ///
    /// Doubtful are emoji with a presentation selector, a skin tone or a joiner, flags and their letters, syllables of
    /// several scalars, scalars of Unicode 15 and later, and those whose width a later version has changed. Accents of
    /// the Latin, Greek and Cyrillic alphabets, and the private use areas, are not.
    static func isDoubtful(_ character: Character) -> Bool {
        if character.isASCII { return false }
        let scalars = character.unicodeScalars
        guard let first = scalars.first, !isDoubtful(first) else { return true }
        // Every terminal puts up to ten marks on the letter before.
        return scalars.count > 10 || scalars.dropFirst().contains { !isAccent($0) }
    }

    /// Whether terminals disagree about the columns of a scalar by itself.
    static func isDoubtful(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x300 { return scalar.value == 0xAD }
        if changedWidths.contains(where: { $0.contains(scalar.value) }) { return true }
        guard let age = scalar.properties.age else { return true }
        return age.major > 14
    }

    /// Whether it is drawn on the letter before it by every terminal.
    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        (0x300...0x36F).contains(scalar.value) && scalar.properties.canonicalCombiningClass != .notReordered
    }

    /// Scalars that are as old as Unicode 14 and yet have several widths in use, or join the letter before them where
    /// graphemes are drawn as one.
    private static let changedWidths: [ClosedRange<UInt32>] = [
        0xD4E...0xD4E, 0xE33...0xE33, 0xEB3...0xEB3,  // vowels and signs that join
        0x1100...0x11FF,  // Hangul jamo
        0x2630...0x2637, 0x268A...0x268F,  // wide since Unicode 16
        0x302E...0x302F,  // tone marks that join
        0x3248...0x324F,  // ambiguous, and wide to some
        0x4DC0...0x4DFF,  // wide since Unicode 16
        0xA960...0xA97C, 0xD7B0...0xD7FB,  // Hangul jamo
        0xFF9E...0xFF9F,  // sound marks that join
        0x111C2...0x111C3, 0x1193F...0x1193F, 0x11941...0x11941, 0x11A84...0x11A89,  // signs that join
        0x11D46...0x11D46,  // a sign that joins
        0x16FF0...0x16FF1,  // reading marks that join
        0x1D300...0x1D376,  // wide since Unicode 16
        0x1F1E6...0x1F1FF,  // letters of flags
        0x1F3FB...0x1F3FF,  // skin tones
    ]
}

extension TextWidth {
    /// The columns that a scalar takes at the beginning of a grapheme; 0 if a terminal may put it on the cell before.
    static func leading(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        // The table calls these one column wide; terminals draw them on the letter before, or not at all.
        case 0x1160...0x11FF, 0xD7B0...0xD7FB, 0x3164, 0xFFA0: 0
        default: Int(utf8proc_charwidth(Int32(bitPattern: scalar.value)))
        }
    }
}
