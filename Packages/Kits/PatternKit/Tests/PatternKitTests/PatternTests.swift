import PatternKit
import Testing

@Suite("Patterns", .timeLimit(.minutes(5)))
struct PatternTests {
    private func match(
        _ pattern: String, _ text: String, _ options: Pattern.Options = [.unicode], limit: UInt32 = 10_000
    ) throws -> PatternMatch {
        try PatternMatcher().firstMatch(of: Pattern(Array(pattern.utf8), options), in: text, limit: limit)
    }

    @Test("The first match is found, in bytes")
    func found() throws {
        #expect(try match("b+", "abbc") == .found(1..<3))
        #expect(try match("é", "aé") == .found(1..<3))
        #expect(try match("x", "abc") == PatternMatch.none)
        #expect(try match("^$", "") == .found(0..<0))
    }

    @Test("A part of the bytes is searched as if it were all")
    func part() throws {
        let matcher = try PatternMatcher()
        let bytes = Array("xabcx".utf8)
        let pattern = try Pattern(Array("^abc$".utf8))
        #expect(matcher.firstMatch(of: pattern, in: bytes.span, 1..<4, limit: 100) == .found(1..<4))
        #expect(matcher.firstMatch(of: pattern, in: bytes.span, 0..<5, limit: 100) == PatternMatch.none)
        #expect(matcher.firstMatch(of: pattern, in: [UInt8]().span, 0..<0, limit: 100) == PatternMatch.none)
    }

    @Test("Options choose how an expression is read")
    func options() throws {
        #expect(try match("a.c", "abc", [.literal]) == PatternMatch.none)
        #expect(try match("ABC", "abc", [.ignoresCase]) == .found(0..<3))
        #expect(try match("^b", "a\nb", [.anchorsLines]) == .found(2..<3))
        #expect(try match("a$", "a\n", []) == .found(0..<1))
        #expect(try match("a$", "a\n", [.endsAtEnd]) == PatternMatch.none)
        #expect(try match(#"\d"#, "٣", [.unicode]) == PatternMatch.none)
        #expect(try match(#"\d"#, "٣", [.unicode, .unicodeClasses]) == .found(0..<2))
    }

    @Test("A catastrophic expression gives up at its limit")
    func limited() throws {
        let text = String(repeating: "a", count: 40) + "!"
        #expect(try match("^(a+)+$", text, limit: 100_000) == .gaveUp)
        #expect(try match("^(a|aa)+$", text, limit: 100_000) == .gaveUp)
        #expect(try match("^a+!$", text) == .found(0..<41))
    }

    @Test("An invalid or too large expression is refused, with its place")
    func refused() {
        let broken = #expect(throws: PatternError.self) { try Pattern(Array("a(b".utf8)) }
        #expect(broken?.kind == .invalid && broken?.offset == 3 && broken?.code == "pattern.invalid")
        #expect(throws: PatternError.self) { try Pattern(Array("((a{1,300}){1,300}){1,300}".utf8)) }
        #expect(throws: PatternError.self) { try Pattern(Array(#"\C"#.utf8), [.unicode, .refusesBytes]) }
    }

    @Test("An expression tells its size, and whether it is anchored")
    func facts() throws {
        #expect(try Pattern(Array("^a".utf8)).isAnchored && !Pattern(Array("a".utf8)).isAnchored)
        #expect(try Pattern(Array("a{100}".utf8)).size > Pattern(Array("a".utf8)).size)
        #expect(Pattern.libraryVersion.hasPrefix("10."))
    }

    @Test("One pattern may be used by many tasks at once")
    func shared() async throws {
        let pattern = try Pattern(Array("^[a-z]+[0-9]$".utf8), [.unicode])
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let matcher = try PatternMatcher()
                    return (0..<1_000).allSatisfy { round in
                        let isDigit = (task + round) % 2 == 0
                        let found = matcher.firstMatch(of: pattern, in: isDigit ? "word7" : "word", limit: 1_000)
                        return (found == .found(0..<5)) == isDigit
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
