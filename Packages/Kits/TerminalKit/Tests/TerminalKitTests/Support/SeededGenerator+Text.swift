import CoreTesting

extension SeededGenerator {
    /// Text of graphemes that are hard to measure and to break.
    mutating func text(maximumCount: Int = 80) -> String {
        let graphemes = [
            "a", "b", "word", "longer-word", " ", " ", "  ", "\n", "\t", "漢", "字", "한", "é", "e\u{301}", "👨‍👩‍👧‍👦", "👍🏽", "🇩🇪",
            "❤️",
            "\u{200D}", "ｱ", "1️⃣",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 0...maximumCount, using: &self) {
            text += graphemes.randomElement(using: &self) ?? ""
        }
        return text
    }
}
