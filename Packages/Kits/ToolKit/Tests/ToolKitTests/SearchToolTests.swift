import Capabilities
import CoreTesting
import JSON
import PatternKit
import Testing

@testable import ToolKit

@Suite("grep.search")
struct SearchToolTests {
    @Test("A search finds the same lines and context as grep -E, in random files", arguments: 0..<6)
    func likeGrep(_ round: UInt64) async throws {
        try await withPlayground { place in
            var random = SeededGenerator(seed: 9300 + round)
            let words = [
                "alpha", "beta", "x", "", " ", "a", "b1", "42", "\t", "Größe", "日本", "foo(bar)", ".", "\\", "aab",
            ]
            let files = (0..<8).map { "d\($0 % 3)/f\($0)" }.sorted()
            for file in files {
                // Some files are larger than the search window.
                let count = Int.random(in: 0...(file.hasSuffix("7") ? 40_000 : 300), using: &random)
                var text = ""
                for _ in 0..<count {
                    for _ in 0..<Int.random(in: 0...4, using: &random) {
                        text += words.randomElement(using: &random) ?? ""
                    }
                    text += "\n"
                }
                try place.write(file, Bool.random(using: &random) ? text : String(text.dropLast()))
            }
            let patterns = [
                "alpha", "^a", "x$", "^$", "^", "$", "a*", "(a|b1)+42", "[^a]b", "[^a]+x", "\\s+x", "\\W42", "\\bx\\b",
                "a{2,3}b",
                "Gr..e", "日.*a", "foo\\(bar\\)", "\\.", "\\\\", "[[:digit:]]+$", "(alpha|beta)(alpha|beta)", "^\\s*$",
                "nothing",
            ]
            for pattern in patterns {
                let context = Int.random(in: 0...3, using: &random)
                let input: JSONObject = ["pattern": .string(pattern), "context": .int(context), "limit": 5000]
                let found = try await place.text("grep.search", input)
                let arguments = ["-HnE"] + (context > 0 ? ["-C", "\(context)"] : []) + ["-e", pattern] + files
                let expected = try await output("grep", arguments, in: place.folder)
                compare(found, String(decoding: expected, as: UTF8.self), "\(pattern), seed \(9300 + round)")
            }
        }
    }

    /// Compares the results up to the limits of the tool.
    private func compare(_ found: String, _ expected: String, _ about: String) {
        let notes = ["[no matching line", "[there are more"]
        let lines = found.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            !notes.contains { line.hasPrefix($0) }
        }.dropLast(found.hasSuffix("\n") ? 1 : 0)
        let wanted = expected.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        let isCut = found.contains("\n[there are more")
        // A cut result may already have context lines of the next match.
        let count = isCut ? min(4900, lines.count) : max(lines.count, wanted.count)
        let difference = zip(lines, wanted).enumerated().first { $0.offset < count && $0.element.0 != $0.element.1 }
        #expect(isCut || lines.count == wanted.count, "\(about): \(lines.count) lines, grep has \(wanted.count)")
        #expect(difference == nil, "\(about)")
    }

    @Test("A search over many lines at once finds the same as a search line by line")
    func shapes() throws {
        var random = SeededGenerator(seed: 4711)
        let atoms = [
            "a", "b", "\\s", "[^a]", ".", "\\W", "$", "^", "(?:a|b\\s)", "\\b", "b*", "\\s*?", "[^b]+", "\\S+",
        ]
        let lines = (0..<60).map { _ in
            String(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    "ab \r"["ab \r".index("ab \r".startIndex, offsetBy: Int.random(in: 0..<4, using: &random))]
                })
        }
        let text = Array(lines.joined(separator: "\n").utf8)
        for _ in 0..<300 {
            let pattern = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                atoms.randomElement(using: &random) ?? ""
            }.joined()
            let expression = try LinePattern(pattern, isLiteral: false, ignoresCase: false)
            #expect(expression.canSpanLines, "\(pattern)")
            let matcher = try LineMatcher(expression)
            var place = 0
            for line in text.split(separator: Byte.newline, omittingEmptySubsequences: false) {
                let end = place + line.count
                let alone = matcher.firstMatch(in: text.span, place..<end, isASCII: false) != .none
                // From this line on, the candidate must be in this line if the line matches.
                if alone, case .found(let match) = matcher.firstMatch(in: text.span, place..<text.count, isASCII: false)
                {
                    #expect(match.lowerBound <= end, "\(pattern), seed 4711")
                } else {
                    #expect(!alone, "\(pattern), seed 4711")
                }
                place = end + 1
            }
        }
    }

    @Test(
        "Required texts are derived from a pattern, and none if there are none",
        arguments: [
            ("needle", "needle"), ("func\\s+name", "func"), ("abcd?", "abc"), ("abcd*x", "abc"), ("abc+d", "abc"),
            ("abcé?", "abc"), ("abc{0,1}def", "def"), ("x{0,123}", nil), ("a{100}", nil), ("abc {def}", "abc"),
            ("(abc)?defg", "defg"), ("(abc|def)", "abc|def"), ("(abc|de)f", nil),
            ("(foo|needle_)[0-9]+", "foo|needle_"),
            ("((abc|def)x|ghij)k*", "abc|def|ghij"), ("(abc)?(def){2,3}", "def"), ("(abc){0}x", nil), ("ab{2,}c", nil),
            ("abc{2}", "abc"), ("(abc", nil), ("abc)", nil), ("(?:abc|)x", nil), ("(?P<n>abcd|efgh)x", "abcd|efgh"),
            ("a|b|c|d", nil), ("(a1a|a2a|a3a|a4a|a5a|a6a|a7a|a8a|a9a)", nil), ("abc|def", "abc|def"), ("abc|de", nil),
            ("abc|", nil),
            ("TODO|FIX(ME)?|XXX+", "TODO|FIX|XXX"), ("(?i)abc", nil), ("(?i:abc)defg", nil),
            ("a(?=b|c)xyz", "xyz"), ("a\\.b\\.c", "a.b.c"), ("\\x61bcd", nil), ("\\Qa|b\\Eabc", nil),
            ("[a|b]+cde", "cde"),
            ("[]a]cde", "cde"), ("[[:alpha:]]cde", nil), ("(?<n>a)cde", "cde"), ("((?x)a)bcd", nil), ("(*UCP)bcd", nil),
            ("a(b)c", nil), ("abc\\bdefg", "defg"), ("^abc$", "abc"), ("(a\\)|b)cde", "cde"), ("abc{x|y}", nil),
        ] as [(String, String?)])
    func required(_ pattern: String, _ text: String?) {
        let texts = RequiredText(of: Array(pattern.utf8)).texts.map { String(decoding: $0, as: UTF8.self) }
        #expect(texts.joined(separator: "|") == text ?? "")
    }

    @Test("A search for required texts finds all matching lines, with random expressions")
    func requiredAtRandom() async throws {
        try await withPlayground { place in
            var random = SeededGenerator(seed: 815)
            let parts = ["abc", "abd", "x", "ab", " ", "", "abcabd", "{", "a|b"]
            let lines = (0..<300).map { _ in
                (0..<Int.random(in: 0...4, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
                    .joined()
            }
            try place.write("a", lines.joined(separator: "\n"))
            let atoms = [
                "abc", "abd", "(abc)?", "abd{0,1}", "[a|b]", "(?:x|ab)", "\\s?", "c*", "d+", "(?=ab)", "x|abc",
                "abd|abc", "\\{",
                "(?!x)",
            ]
            for _ in 0..<150 {
                let pattern = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    atoms.randomElement(using: &random) ?? ""
                }.joined()
                let matcher = try LineMatcher(LinePattern(pattern, isLiteral: false, ignoresCase: false))
                let expected = lines.enumerated().filter { _, line in
                    matcher.firstMatch(in: Array(line.utf8).span, 0..<line.utf8.count, isASCII: false) != .none
                        || line.isEmpty && matcher.firstMatch(in: [0x0A].span, 0..<0, isASCII: false) != .none
                }.map { "a:\($0.offset + 1):\($0.element)" }
                let found = try await place.lines("grep.search", ["pattern": .string(pattern), "limit": 5000])
                // An empty part at the end is not a line.
                let wanted = lines.last == "" && expected.last == "a:300:" ? expected.dropLast() : expected[...]
                #expect(found.filter { $0.hasPrefix("a:") } == Array(wanted), "\(pattern), seed 815")
            }
        }
    }

    @Test("A case-insensitive search finds the same as the expression alone, even beyond ASCII")
    func caseless() async throws {
        try await withPlayground { place in
            var random = SeededGenerator(seed: 1213)
            let parts = [
                "needle", "NEEDLE", "Zeppelin", "\u{17F}", "s", "K", "\u{212A}", "é", "É", " ", "x", "9", "_", "ask",
                "ASK",
            ]
            for round in 0..<20 {
                let parts = round % 2 == 0 ? parts.filter { $0.utf8.allSatisfy { $0 < 0x80 } } : parts
                let lines = (0..<100).map { _ in
                    (0..<Int.random(in: 1...6, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
                        .joined()
                }
                try place.write("a", lines.joined(separator: "\n") + "\n")
                for pattern in [
                    "needle", "(needle|zeppelin)", "ask", "asks", "\\bneedle\\w", "needle[^x]", "éx", "\\w{7,}\\d", "k",
                    "[0-9a-z_]{6}", "\\w{12}", "[a-k]{2}ed",
                ] {
                    for isLiteral in [false, true] where !isLiteral || !pattern.contains("\\") {
                        let matcher = try LineMatcher(LinePattern(pattern, isLiteral: isLiteral, ignoresCase: true))
                        let wanted = lines.enumerated().filter { _, line in
                            matcher.firstMatch(in: Array(line.utf8).span, 0..<line.utf8.count, isASCII: false) != .none
                        }.map { "a:\($0.offset + 1):\($0.element)" }
                        var input: JSONObject = [
                            "pattern": .string(pattern), "literal": .bool(isLiteral), "ignore_case": true, "limit": 500,
                        ]
                        #expect(
                            try await place.lines("grep.search", input).filter { $0.hasPrefix("a:") } == wanted,
                            "\(pattern), seed 1213")
                        guard !isLiteral else { continue }
                        input["ignore_case"] = false
                        input["pattern"] = .string("(?i)" + pattern)
                        #expect(
                            try await place.lines("grep.search", input).filter { $0.hasPrefix("a:") } == wanted,
                            "\(pattern), seed 1213")
                    }
                }
            }
        }
    }

    @Test(
        "Required runs are derived from a pattern, and none if there are none",
        arguments: [
            ("\\d{4}-\\d{2}", 4), ("\\b\\w{30}\\b", 30), ("[0-9a-f]{8}-", 8), ("x\\d{3,}", 3), ("\\d{2}", nil),
            ("\\w{4}", nil),
            ("\\d{4}|x", nil), ("(\\d{4})?x", nil), ("\\d{0,9}", nil), ("[^0-9]{40}", nil), ("\\D{30}", nil),
            ("\\d{4}abc", nil),
            ("[\\w-]{40}", 40), ("[0-\\d]{4}", nil), ("[[:digit:]]{4}", nil), ("\\s{40}", nil), ("^\\s*\\d{9}", 9),
        ] as [(String, Int?)])
    func runs(_ pattern: String, _ count: Int?) throws {
        #expect(RequiredText(of: Array(pattern.utf8)).run?.count == count)
    }

    @Test("The first run is found in random bytes")
    func findsRuns() throws {
        var random = SeededGenerator(seed: 321)
        for _ in 0..<3000 {
            let count = Int.random(in: 3...7, using: &random)
            let run = try #require(ByteRun(of: Array("[0-9]".utf8)[...], count: count, ignoringCase: false))
            let length = Int.random(in: 0...60, using: &random)
            let bytes = (0..<length).map { _ in Array("0123456789012x\u{E9}".utf8).randomElement(using: &random) ?? 0 }
            let start = Int.random(in: 0...bytes.count, using: &random)
            let expected = (start..<max(start, bytes.count - count + 1)).first { place in
                bytes[place..<(place + count)].allSatisfy { $0 >= 0x80 || (0x30...0x39).contains($0) }
            }
            #expect(run.first(in: bytes.span, start..<bytes.count) == expected, "\(bytes), seed 321")
        }
    }

    @Test("The first place of a text is found, at every offset and with every length")
    func texts() {
        var random = SeededGenerator(seed: 99)
        for _ in 0..<3000 {
            let letters = Array("aAbB@`[{".utf8) + [0xC3, 0xE3]
            let bytes = (0..<Int.random(in: 0...150, using: &random)).map { _ in
                letters.randomElement(using: &random) ?? 0
            }
            let text = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                letters.prefix(8).randomElement(using: &random) ?? 0
            }
            let ignoresCase = Bool.random(using: &random)
            let small = { (byte: UInt8) in ignoresCase && (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
            let start = Int.random(in: 0...bytes.count, using: &random)
            let expected = (start..<max(start, bytes.count - text.count + 1)).first { place in
                text.indices.allSatisfy { small(bytes[place + $0]) == small(text[$0]) }
            }
            let found = TextSearch(text, ignoringCase: ignoresCase).first(in: bytes.span, start..<bytes.count)
            #expect(found == expected, "\(text) in \(bytes), seed 99")
            #expect(bytes.span.isASCII(start..<bytes.count) == bytes[start...].allSatisfy { $0 < 0x80 })
        }
    }

    @Test(
        "Expressions with lookaround or possessive matching are tested line by line",
        arguments: ["(?=a)", "a++", "\\Aa", "(?s)a", "a{2}+"])
    func careful(_ pattern: String) throws {
        #expect(try !LinePattern(pattern, isLiteral: false, ignoresCase: false).canSpanLines)
        #expect(try LinePattern(pattern, isLiteral: true, ignoresCase: false).canSpanLines)
    }

    @Test("Lookaround does not see the line before or after")
    func lookaround() async throws {
        try await withPlayground { place in
            try place.write("a", "foo\nbar\nfoo bar\n")
            #expect(try await place.lines("grep.search", ["pattern": "foo(?!\\s*bar)"]) == ["a:1:foo"])
            #expect(try await place.lines("grep.search", ["pattern": "(?<!\\s)bar"]) == ["a:2:bar"])
            #expect(try await place.lines("grep.search", ["pattern": "foo\\s*+$"]) == ["a:1:foo"])
            #expect(try await place.lines("grep.search", ["pattern": "o\\s+b"]) == ["a:3:foo bar"])
            #expect(try await place.lines("grep.search", ["pattern": "o[^\\n]*r"]) == ["a:3:foo bar"])
        }
    }

    @Test("Options for literal text, case, globs, one file, hidden and ignored files work")
    func options() async throws {
        try await withPlayground { place in
            try place.write("a.swift", "f(x)\nF(X)\n")
            try place.write("src/b.c", "f(x)\r\n")
            try place.write(".hidden/c.swift", "f(x)\n")
            try place.write("out/d.swift", "f(x)\n")
            try place.write(".gitignore", "out\n")
            func found(_ input: JSONObject) async throws -> [String] { try await place.lines("grep.search", input) }
            #expect(try await found(["pattern": "f(x)", "literal": true]) == ["a.swift:1:f(x)", "src/b.c:1:f(x)"])
            #expect(try await found(["pattern": "f\\(x\\)$", "glob": "*.c"]) == ["src/b.c:1:f(x)"])
            #expect(
                try await found(["pattern": "f(x)", "literal": true, "ignore_case": true, "path": "a.swift"]).count == 2
            )
            #expect(try await found(["pattern": "F\\(", "ignore_case": true, "glob": "src/**"]) == ["src/b.c:1:f(x)"])
            #expect(try await found(["pattern": "x", "glob": "b.*", "path": "src"]) == ["src/b.c:1:f(x)"])
            #expect(try await found(["pattern": "x", "hidden": true, "ignored": true]).count == 4)
            #expect(try await found(["pattern": "x", "path": "out"]) == ["out/d.swift:1:f(x)"])
            #expect(try await found(["pattern": "zzz"]) == ["[no matching line in 2 files]"])
        }
    }

    @Test("Binary files are counted and not searched; UTF-16 and invalid UTF-8 are searched")
    func encodings() async throws {
        try await withPlayground { place in
            try place.write("binary", Array("needle\n".utf8) + [0])
            try place.write("late", Array(String(repeating: "x\n", count: 200_000).utf8) + [0] + Array("needle\n".utf8))
            try place.write("mark", "\u{FEFF}needle\n")
            try place.write(
                "wide", Array("\u{FEFF}one\nneedle ä\n".utf16).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
            try place.write("broken", [0xFF] + Array("needle".utf8) + [0xC3, 0x0A])
            let lines = try await place.lines("grep.search", ["pattern": "^needle"])
            #expect(lines == ["mark:1:needle", "wide:2:needle ä", "[2 binary files were not searched]"])
            #expect(try await place.lines("grep.search", ["pattern": "needle"])[0] == "broken:1:\u{FFFD}needle\u{FFFD}")
        }
    }

    @Test("A long line is shown around the match, and an extremely long one is skipped")
    func longLines() async throws {
        try await withPlayground { place in
            try place.write(
                "long", String(repeating: "a", count: 700_000) + "needle" + String(repeating: "b", count: 9000) + "\nx")
            try place.write("endless", String(repeating: "a", count: 9 << 20) + "needle\n")
            let lines = try await place.lines("grep.search", ["pattern": "needle"])
            #expect(
                lines[0].hasPrefix("long:1:…aaa") && lines[0].contains("needle") && lines[0].contains("709006 bytes"))
            #expect(lines[0].utf8.count < 600)
            #expect(lines[1].contains("endless has a line longer than"))
            #expect(try await place.lines("grep.search", ["pattern": "^x", "path": "long"]) == ["long:2:x"])
        }
    }

    @Test("The limit gives the first lines in tree order, and a note reports more")
    func limit() async throws {
        try await withPlayground { place in
            for index in 100..<200 { try place.write("f\(index)", "hit\nhit\nmiss\n") }
            let lines = try await place.lines("grep.search", ["pattern": "hit", "limit": 5])
            #expect(lines.prefix(5) == ["f100:1:hit", "f100:2:hit", "f101:1:hit", "f101:2:hit", "f102:1:hit"])
            #expect(lines.count == 6 && lines[5].contains("there are more"))
            let exact = try await place.lines("grep.search", ["pattern": "hit", "limit": 200])
            #expect(exact.count == 200)
            let around = try await place.lines(
                "grep.search", ["pattern": "hit", "path": "f100", "limit": 1, "context": 2])
            #expect(around.count == 2 && around[0] == "f100:1:hit" && around[1].contains("there are more"))
        }
    }

    @Test("Patterns that are invalid, too large or too slow are reported")
    func patterns() async throws {
        try await withPlayground { place in
            try place.write("a", String(repeating: String(repeating: "a", count: 60) + "!\n", count: 300) + "ab\n")
            #expect(
                try await place.failure("grep.search", ["pattern": "(a"]).contains(
                    "at byte 2: missing closing parenthesis"))
            #expect(try await place.failure("grep.search", ["pattern": ""]).contains("empty"))
            #expect(try await place.failure("grep.search", ["pattern": "a\\nb"]).contains("line break"))
            #expect(
                try await place.failure("grep.search", ["pattern": "a\nb", "literal": true]).contains("line break"))
            #expect(
                try await place.failure("grep.search", ["pattern": "(((a{1,999}){1,999}){1,999})"]).contains(
                    "too large"))
            #expect(try await place.text("grep.search", ["pattern": "^(a+)+$"]).contains("takes too many steps in a"))
        }
    }
}
