import CUTF8Proc

/// What one cell, or the two of a wide one, show.
struct Glyph: Equatable {
    /// The scalar, or nil for a longer cluster.
    let scalar: UInt32?
    /// The cluster, or nothing for a single scalar.
    let cluster: String
    let width: Int
    let isDoubtful: Bool

    /// A terminal keeps ten to fifteen marks on a letter. The longest emoji, a family with skin tones, has eleven.
    private static let maximumScalars = 24

    /// Calls `show` with what is drawn for a grapheme: as a rule one glyph.
    ///
    /// Scalars that nobody sees are shown by name, as `‹U+200B›`, unless the writing system of their neighbours needs
    /// them. One at the beginning of a text would be drawn on the cell before it.
    ///
    /// - Parameter following: the scalar after the grapheme; nil if that is not known.
    static func read(_ character: Character, before following: Unicode.Scalar?, _ show: (Glyph) -> Void) {
        let all = character.unicodeScalars
        guard let first = all.first, TextWidth.leading(first) > 0 else {
            return all.prefix(maximumScalars).forEach { name($0, show) }
        }
        if all.index(after: all.startIndex) == all.endIndex {
            let isDoubtful = TextWidth.isDoubtful(first)
            return show(
                Glyph(scalar: first.value, cluster: "", width: TextWidth.leading(first), isDoubtful: isDoubtful))
        }
        let tags = regionTags(all)
        if isWhole(all, first, tags, following) {
            let width = TextWidth.of(character)
            return show(Glyph(scalar: nil, cluster: String(character), width: width, isDoubtful: true))
        }
        let scalars = Array(all.prefix(maximumScalars))
        var kept = [first]
        var refused: [Unicode.Scalar] = []
        for (index, scalar) in scalars.enumerated().dropFirst() {
            let next = index + 1 < scalars.count ? scalars[index + 1] : nil
            if index <= tags || isExpected(scalar, after: kept[kept.count - 1], before: next, following, first: first) {
                kept.append(scalar)
            } else {
                refused.append(scalar)
            }
        }
        show(cluster(kept))
        refused.forEach { name($0, show) }
    }

    /// Whether a cluster without accents can be drawn as it is.
    private static func isWhole(
        _ scalars: Character.UnicodeScalarView, _ first: Unicode.Scalar, _ tags: Int, _ following: Unicode.Scalar?
    ) -> Bool {
        var (count, last) = (1, first)
        var index = scalars.index(after: scalars.startIndex)
        while index < scalars.endIndex {
            let scalar = scalars[index]
            scalars.formIndex(after: &index)
            let next = index < scalars.endIndex ? scalars[index] : nil
            count += 1
            guard count <= maximumScalars, !(0x300...0x36F).contains(scalar.value),
                count <= tags + 1 || isExpected(scalar, after: last, before: next, following, first: first)
            else { return false }
            last = scalar
        }
        return true
    }

    private static func cluster(_ scalars: [Unicode.Scalar]) -> Glyph {
        // One scalar is what terminals agree on, and it takes no place in a table.
        let scalars = composed(scalars)
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        let character = Character(text)
        let width = max(1, TextWidth.of(character))
        let isDoubtful = TextWidth.isDoubtful(character)
        return scalars.count == 1
            ? Glyph(scalar: scalars[0].value, cluster: "", width: width, isDoubtful: isDoubtful)
            : Glyph(scalar: nil, cluster: text, width: width, isDoubtful: isDoubtful)
    }

    /// The scalars with accents and letters joined where Unicode has such a letter.
    private static func composed(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        guard scalars.contains(where: { (0x300...0x36F).contains($0.value) }) else { return scalars }
        var values = scalars.map { Int32(bitPattern: $0.value) }
        let count = unsafe utf8proc_normalize_utf32(&values, values.count, UTF8PROC_COMPOSE)
        guard count > 0 else { return scalars }
        return values.prefix(count).compactMap { Unicode.Scalar(UInt32(bitPattern: $0)) }
    }

    private static func name(_ scalar: Unicode.Scalar, _ show: (Glyph) -> Void) {
        for scalar in Sanitizer.name(of: scalar.value).unicodeScalars {
            show(Glyph(scalar: scalar.value, cluster: "", width: 1, isDoubtful: false))
        }
    }

    /// Whether a scalar within a cluster is seen, or changes what is seen as its writing system wants it. `next` is in the
    /// cluster, and `following` after it.
    private static func isExpected(
        _ scalar: Unicode.Scalar, after last: Unicode.Scalar, before next: Unicode.Scalar?,
        _ following: Unicode.Scalar?, first: Unicode.Scalar
    ) -> Bool {
        switch scalar.value {
        // Between two letters, of which the second may be in another run of the text.
        case 0x200C: usesNonJoiner(last) && (next ?? following).map(usesNonJoiner) ?? true
        // The joiner of Arabic, Indic scripts and emoji; at the end it would take the following cell.
        case 0x200D: last.value >= 0x590 && last.value != 0x200D && (next?.value ?? 0) >= 0x590
        case 0xFE00...0xFE0F: !last.properties.isVariationSelector && !first.properties.isAlphabetic
        case 0xE0100...0xE01EF: !last.properties.isVariationSelector && first.properties.isIdeographic
        case 0x1100...0x11FF: true
        case 0x180B...0x180F: (0x1800...0x18AF).contains(first.value)
        default: !scalar.properties.isDefaultIgnorableCodePoint && !Sanitizer.isHarmful(scalar.value)
        }
    }
}

extension Glyph {
    /// Whether it is a letter, or a sign on one, of a script whose letters join unless a non-joiner keeps them apart:
    /// Arabic and its relatives, N'Ko, the scripts of India and South-East Asia, Mongolian and Adlam.
    private static func usesNonJoiner(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x600...0x77F, 0x7C0...0x7FF, 0x840...0xDFF, 0x1000...0x109F, 0x1780...0x18AF, 0x1B00...0x1BFF,
            0xA8E0...0xA8FF, 0xA980...0xA9DF, 0x11000...0x11FFF, 0x1E900...0x1E95F:
            [.otherLetter, .modifierLetter, .uppercaseLetter, .lowercaseLetter, .nonspacingMark, .spacingMark]
                .contains(scalar.properties.generalCategory)
        default: false
        }
    }

    /// How many scalars after a black flag make it the flag of a region: up to six letters or digits and their end.
    /// Others, and those that do not end, would hide a text.
    private static func regionTags(_ scalars: Character.UnicodeScalarView) -> Int {
        guard scalars.first?.value == 0x1F3F4 else { return 0 }
        let rest = scalars.dropFirst()
        let count = rest.prefix {
            (0xE0030...0xE0039).contains($0.value) || (0xE0061...0xE007A).contains($0.value)
        }.count
        guard (1...6).contains(count), rest.dropFirst(count).first?.value == 0xE007F else { return 0 }
        return count + 1
    }
}

extension Glyph {
    /// Whether a scalar is a grapheme by itself if its neighbours are such scalars too, and is as wide as the table
    /// says to every terminal. It covers most text, and saves the search for graphemes.
    static func standsAlone(_ value: UInt32) -> Bool {
        switch value {
        case 0x20...0x7E, 0xA1...0xAC, 0xAE...0x2FF, 0x400...0x482, 0x48A...0x52F: true
        case 0x2010...0x2027, 0x2030...0x205E, 0x2190...0x23FF, 0x2500...0x262F, 0x2690...0x27BF, 0x2800...0x28FF: true
        case 0x3001...0x3029, 0x3041...0x3096, 0x30A1...0x30FF, 0x4E00...0x9FEF, 0xAC00...0xD7A3: true
        case 0xE000...0xF8FF, 0xFF01...0xFF9D: true
        default: false
        }
    }
}
