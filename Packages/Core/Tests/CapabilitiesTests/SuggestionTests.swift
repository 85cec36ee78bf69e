import Capabilities
import Testing

@Suite("Suggestion")
struct SuggestionTests {
    static let known = ["model", "max-rounds", "monitor", "files", "chat", "on"]

    @Test(
        "The most likely name is suggested",
        arguments: [
            ("modle", "model"), ("mdoel", "model"), ("model", "model"), ("MODEL", "model"), ("modell", "model"),
            ("max_rounds", "max-rounds"), ("maxrounds", "max-rounds"), ("caht", "chat"), ("file", "files"),
            ("moni", "monitor"), ("monit", "monitor"), ("no", "on"),
            ("moodle", "model"),
        ])
    func found(word: String, expected: String) {
        #expect(Suggestion.nearest(to: word, among: Self.known) == expected)
    }

    @Test("Nothing is suggested if no name is near", arguments: ["zebra", "xx", "mo", "", "max-rounds-of-everything"])
    func nothing(word: String) {
        #expect(Suggestion.nearest(to: word, among: Self.known) == nil)
        #expect(Suggestion.text(for: word, among: Self.known) == "")
    }

    @Test("The nearest name wins, then the first")
    func nearest() {
        #expect(Suggestion.nearest(to: "chart", among: ["charts-all", "chat", "chars"]) == "chat")
        #expect(Suggestion.nearest(to: "chart", among: ["chars", "chat"]) == "chars")
    }

    @Test("A beginning is completed only if it is unique")
    func beginnings() {
        #expect(Suggestion.nearest(to: "mon", among: ["monitor.snapshot", "monitor.watch"]) == nil)
        #expect(Suggestion.nearest(to: "mon", among: ["monitor.snapshot", "files.list"]) == "monitor.snapshot")
    }

    @Test("Without candidates nothing is suggested")
    func empty() {
        #expect(Suggestion.nearest(to: "model", among: [String]()) == nil)
    }

    @Test(
        "A typing mistake is at most two letters away, or one in a short word",
        arguments: [
            ("lisst", "list"), ("lsit", "list"), ("lest", "list"), ("rn", "rm"), ("hi", nil), ("shwoo", "show"),
            ("hello", nil), ("monitoring", nil), ("mon", nil),
        ] as [(String, String?)])
    func slip(word: String, expected: String?) {
        #expect(Suggestion.slip(of: word, among: ["list", "show", "rm", "monitor"]) == expected)
    }

    @Test("A suggestion is worded as the end of a message")
    func text() {
        #expect(Suggestion.text(for: "modle", among: Self.known) == "; did you mean 'model'?")
    }
}
