import CoreTesting
import JSON
import SchemaKit
import Testing

@Suite("Patterns of ECMA-262", .timeLimit(.minutes(10)))
struct ScriptPatternTests {
    @Test(
        "A pattern matches what ECMA-262 says",
        arguments: [
            (#"b"#, ["abc"], ["ac"]), (#"^b$"#, ["b"], ["b\n", "ab"]),
            (#"a.c"#, ["abc", "a😀c"], ["a\nc", "a\u{2028}c", "ac"]),
            (#"^\d+$"#, ["123"], ["١٢", "a"]), (#"^\w$"#, ["a", "_"], ["é", "-"]), (#"\bé"#, ["aé"], ["é", "-é"]),
            (#"^\s$"#, [" ", "\u{A0}", "\u{FEFF}", "\u{2028}", "\t"], ["a", "\u{85}"]),
            (#"^\S$"#, ["a", "\u{85}", "é", "😀"], [" ", "\u{A0}"]), (#"^[\s\d]$"#, ["\u{3000}", "1"], ["a"]),
            (#"^[^\s]$"#, ["a"], ["\u{3000}"]), (#"^[\S]$"#, ["a", "😀"], ["\u{3000}"]),
            (#"^[\s\S]$"#, ["a", "\n"], ["ab"]),
            (#"^\u00e9\xE9$"#, ["éé"], ["é"]), (#"^\ud83d\ude00\u{1F600}$"#, ["😀😀"], ["😀"]),
            (#"^a\/b\-c\.$"#, ["a/b-c."], ["a/b-cx"]),
            (#"^\cJ\t\0$"#, ["\n\t\0"], [""]), (#"^[a\-z]$"#, ["-", "a", "z"], ["b"]),
            (#"^[a-c-]$"#, ["b", "-"], ["d"]),
            (#"^[-a]$"#, ["-", "a"], ["b"]), (#"^[\w-.]$"#, ["a", "-", "."], [","]),
            (#"^[+--]$"#, ["+", ",", "-"], ["."]),
            (#"^[[:alpha:]]$"#, [":]", "a]", "[]"], ["a", "b"]), (#"^[]a"#, [], ["a", "]a"]),
            (#"^[^]$"#, ["a", "\n"], [""]),
            (#"^[\]\\^]$"#, ["]", "\\", "^"], ["a"]), (#"^[\b]$"#, ["\u{8}"], ["b"]),
            (#"^a{2,3}?$"#, ["aa", "aaa"], ["a"]),
            (#"^a{,2}$"#, ["a{,2}"], ["aa"]), (#"^{}a{x}$"#, ["{}a{x}"], ["a"]),
            (#"^(?<year>\d{4})-\k<year>$"#, ["2026-2026"], ["2026-2025"]),
            (#"^(a)?\1b$"#, ["aab", "b"], ["ab"]), (#"^(?:a|b)+?(?=c)(?!cd)c"#, ["abc"], ["abcd"]),
            (#"(?<=\$)\d(?<!5)"#, ["$4"], ["$5", "4"]), (#"^\p{Lu}\p{Letter}\P{L}$"#, ["Éé1"], ["éé1"]),
            (#"^\p{Script=Greek}\p{gc=Nd}$"#, ["α1"], ["a1"]), (#"^[\p{L}\d]+$"#, ["é1"], ["-"]),
            (#"^#x y$"#, ["#x y"], ["y"]),
            (#"^é$"#, ["é"], ["e\u{301}"]), ("^\u{1F600}+$", ["😀😀"], ["a"]), (#"^$"#, [""], ["a", "\n"]),
            (#""#, ["", "a"], []),
            (#"a|^b$|"#, ["x"], []), (#"^[0-9A-Fa-f]{8}(-[0-9a-f]{4}){3}$"#, ["deadBEEF-0000-1111-2222"], ["x"]),
        ] as [(String, [String], [String])])
    func matches(pattern: String, matching: [String], other: [String]) throws {
        let schema = try JSONSchema(["pattern": .string(pattern)])
        #expect(schema.gaps.isEmpty)
        for text in matching { #expect(schema.check(.string(text)).isValid, "\(text.debugDescription) does not match") }
        for text in other {
            #expect(schema.check(.string(text)).outcome == .invalid, "\(text.debugDescription) matches")
        }
    }

    @Test(
        "What is not part of ECMA-262, or cannot be matched, is named and leaves the outcome open",
        arguments: [
            (#"\A\d+\Z"#, #"\A is not part of ECMA-262"#), (#"(?i)abc"#, "(?i) is not part of ECMA-262"),
            (#"(?P<n>a)"#, "(?P< is not part of ECMA-262"), (#"(?>a)"#, "(?>a is not part of ECMA-262"),
            (#"a++"#, "there is nothing to repeat before +"), (#"*a"#, "there is nothing to repeat before *"),
            (#"(*UTF)a"#, "there is nothing to repeat before *"), (#"{3}"#, "there is nothing to repeat before {"),
            (#"[a"#, "a set is not closed"), (#"\"#, "it ends with a backslash"),
            (#"(a"#, "missing closing parenthesis"),
            (#"a)"#, "unmatched closing parenthesis"), (#"\2(a)"#, "there is no group 2"),
            (#"\k<x>"#, "there is no group <x>"),
            (#"\ud800"#, "half of a surrogate pair matches no text"),
            (#"\u12"#, "an escape needs 4 hexadecimal digits"),
            (#"\u{110000}"#, #"\u{ needs the number of a character"#), (#"\p{Nonsense}"#, "unknown property"),
            (#"[z-a]"#, "range out of order"), (#"(?<=a+)b"#, "lookbehind assertion is not fixed length"),
            (#"((a{1,300}){1,300}){1,300}"#, "regular expression is too large"),
            (#"\Qa\E"#, #"\Q is not part of ECMA-262"#),
            (#"\C"#, #"\C is not part of ECMA-262"#),
            (String(repeating: "a", count: 5_000), "it is longer than 4096 bytes"),
        ])
    func refused(pattern: String, reason: String) throws {
        let schema = try JSONSchema(["pattern": .string(pattern), "maxLength": 100_000])
        let gap = try #require(schema.gaps.first)
        #expect(gap.kind == .pattern && gap.description.hasPrefix("the pattern at /pattern cannot be checked: "))
        #expect(gap.description.contains(reason), "\(gap)")
        let verdict = schema.check("abc")
        #expect(verdict.outcome == .unknown && verdict.unchecked == [gap])
        #expect(schema.check(1).isValid)
    }

    @Test(
        "A pattern that takes too many steps leaves the outcome open",
        arguments: [
            "^(a+)+$", "^(a|aa)+$", "^(a|a?)+$", "^(([a-z])+.)+[A-Z]([a-z])+$",
        ])
    func catastrophic(pattern: String) throws {
        let schema = try JSONSchema(["items": ["pattern": .string(pattern)]])
        let text = JSON.string(String(repeating: "a", count: 60) + "!")
        let verdict = schema.check([text])
        #expect(verdict.outcome == .unknown && verdict.unchecked.map(\.kind) == [.pattern], "\(verdict)")
        var many = verdict
        let seconds = threadSeconds { many = schema.check(.array([JSON](repeating: text, count: 10_000))) }
        #expect(many.outcome == .unknown && many.unchecked.contains { $0.kind == .limit })
        #expect(seconds < 10)
    }

    @Test(
        "Long texts cost what reading them from each place costs, so that they end as well",
        arguments: [
            "a[^b]*c", "a+b", "[a-z]+[0-9]", "(?:a*a*)b",
        ])
    func long(pattern: String) throws {
        let schema = try JSONSchema(["items": ["pattern": .string(pattern)]])
        for length in [1_000, 16_000, 1_000_000] {
            let text = JSON.string(String(repeating: "a", count: length))
            let texts = JSON.array([JSON](repeating: text, count: 1_000_000 / length))
            let seconds = threadSeconds { #expect(schema.check(texts).outcome != .valid) }
            #expect(seconds < 10)
        }
        let anchored = try JSONSchema(["pattern": "^[a-z]+$"])
        #expect(anchored.check(.string(String(repeating: "a", count: 1_000_000))).isValid)
    }

    @Test("Patterns of names that cannot be checked leave open whom additionalProperties is about")
    func openNames() throws {
        let schema = try JSONSchema([
            "patternProperties": [#"\Ax"#: ["type": "integer"]], "additionalProperties": false,
        ])
        #expect(schema.gaps.first?.description.contains(#"/patternProperties/\Ax"#) == true)
        #expect(schema.check(["x": 1]).outcome == .unknown && schema.check([:]).isValid)
    }
}
