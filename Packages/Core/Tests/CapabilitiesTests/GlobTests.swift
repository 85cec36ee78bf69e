import Capabilities
import CoreTesting
import Testing

@Suite("Glob")
struct GlobTests {
    @Test(
        "Patterns match what they describe",
        arguments: [
            ("read_*", "read_file", true), ("read_*", "read_", true), ("read_*", "aread_file", false),
            ("*", "anything", true), ("*", "", true), ("", "", true), ("", "a", false), ("?", "é", true),
            ("/srv/*", "/srv/a", true), ("/srv/*", "/srv/a/b", false), ("/srv/**", "/srv/a/b", true),
            ("**/b", "/srv/a/b", true), ("?", "/", false), ("a\\*b", "a*b", true), ("a\\*b", "axb", false),
            ("a\\", "a\\", true), ("*.md", "notes.md", true), ("*.md", "notes.md.txt", false),
            ("***", "a/b", true), ("a*b*c", "aXbYbZc", true), ("ä", "a\u{308}", false),
        ])
    func fits(pattern: String, text: String, expected: Bool) {
        #expect(Glob.matches(pattern, text) == expected)
    }

    @Test("Patterns with many stars are fast", .timeLimit(.minutes(5)))
    func quick() {
        let text = String(repeating: "a", count: 20_000)
        #expect(!Glob.matches(String(repeating: "*a", count: 30) + "b", text))
    }

    @Test("An escaped text matches only itself", arguments: 1...30)
    func escaped(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let text = String((0..<8).map { _ in "ab*?\\/".randomElement(using: &random) ?? "a" })
        #expect(Glob.matches(Glob.escape(text), text), "seed \(seed): \(text)")
        #expect(!Glob.matches(Glob.escape(text), text + "a"), "seed \(seed): \(text)")
        #expect(Glob.precision(of: Glob.escape(text)) > Glob.precision(of: "abababab*"), "seed \(seed)")
    }
}
