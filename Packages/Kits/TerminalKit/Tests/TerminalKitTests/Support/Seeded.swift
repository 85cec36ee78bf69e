/// Random numbers that a printed seed brings back.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

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
