import Testing

@testable import TerminalKit

@Suite struct DoubtfulWidthTests {
    @Test(
        "Terminals agree about letters, accents, wide characters, lines and private use",
        arguments: [
            "a", "~", "é", "e\u{301}", "x\u{323}\u{301}", "日", "本", "ｱ", "§", "─", "한", "\u{E0B0}", "\u{F0001}", "😀",
            "❤",
            "⠋", "ж", "λ",
        ])
    func agreed(cluster: String) {
        #expect(!TextWidth.isDoubtful(Character(cluster)))
    }

    @Test(
        "Terminals disagree about selectors, tones, flags, joiners, syllables and new scalars",
        arguments: [
            "❤\u{FE0F}", "⚠\u{FE0F}", "1\u{FE0F}\u{20E3}", "👍🏽", "🇩🇪", "🇩", "👨‍👩‍👧", "🏳️‍🌈", "क्षि", "\u{1112}\u{1161}\u{11AB}",
            "\u{1112}", "\u{1FAE8}", "\u{1F3FD}", "\u{4DC0}", "กำ", "\u{378}",
        ])
    func doubtful(cluster: String) {
        #expect(TextWidth.isDoubtful(Character(cluster)))
    }

    @Test("A scalar that is not doubtful never joins the letter before or after it")
    func alone() {
        for value in UInt32(0x20)...0x1_FFFF {
            guard let scalar = Unicode.Scalar(value), TextWidth.leading(scalar) > 0, !TextWidth.isDoubtful(scalar)
            else {
                continue
            }
            var text = "a"
            text.unicodeScalars.append(contentsOf: [scalar, "a"])
            if text.count != 3 { Issue.record("U+\(String(value, radix: 16)) joins its neighbours") }
        }
    }

    @Test("A scalar of the fast path is a grapheme by itself beside any other, is not doubtful, and has a width")
    func fast() throws {
        let all = (UInt32(0x20)...0xFFFF).filter(Glyph.standsAlone).compactMap(Unicode.Scalar.init)
        #expect(all.count > 30_000)
        for (one, other) in zip(all, all.reversed()) {
            var text = ""
            text.unicodeScalars.append(contentsOf: [one, other])
            let isRight = text.count == 2 && !TextWidth.isDoubtful(one) && TextWidth.of(Character(one)) > 0
            if !isRight { Issue.record("U+\(String(one.value, radix: 16)) does not stand alone") }
        }
    }
}
