import CoreTesting
import JSON
import Testing

@testable import ToolKit

@Suite("Edit tools", .timeLimit(.minutes(10)))
struct EditToolTests {
    static func edits(_ list: [(String, String)], all: Bool = false) -> JSON {
        .array(
            list.map { old, new in
                ["old_text": .string(old), "new_text": .string(new), "replace_all": .bool(all)]
            })
    }

    @Test("Edits are applied one after the other, and the result is the diff")
    func edits() async throws {
        try await withPlayground { place in
            try place.write("f", "one\ntwo\nthree\n")
            let input: JSONObject = ["path": "f", "edits": Self.edits([("two", "2"), ("2\nthree", "2\n3")])]
            var dry = input
            dry["dry_run"] = true
            let shown = try await place.text("multi.edit", dry)
            #expect(shown.contains("dry run") && shown.contains("-two\n-three\n+2\n+3\n"))
            #expect(try place.content("f") == "one\ntwo\nthree\n")
            let done = try await place.text("multi.edit", input)
            #expect(
                done == "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+3\n[f: 2 lines added, 2 removed]")
            #expect(try place.content("f") == "one\n2\n3\n" && place.names() == ["f"])
        }
    }

    @Test("A text that does not occur exactly once is rejected with a hint, and no edit is applied")
    func refused() async throws {
        try await withPlayground { place in
            let text = "if a {\n\tb()\n}\nif a {\n\tc()\n}\naaa\n"
            try place.write("f", text)
            for (old, words) in [
                ("if a {", "2 places (lines 1, 4)"), ("aa", "2 places (lines 7, 7)"),
                ("nothing", "read the file again"),
                ("if a {\n    c()\n}", "the text at line 4 differs only in spaces"),
                ("     7\taaa", "line numbers"),
            ] {
                let input: JSONObject = ["path": "f", "edits": Self.edits([("b()", "B()"), (old, "x")])]
                let sentence = try await place.failure("multi.edit", input)
                #expect(sentence.contains(words) && sentence.contains("edit 2"), "\(old): \(sentence)")
            }
            #expect(
                try await place.failure("multi.edit", ["path": "f", "edits": Self.edits([("a", "a")])]).contains("same")
            )
            #expect(try place.content("f") == text)
            _ = try await place.text(
                "multi.edit", ["path": "f", "edits": Self.edits([("if a", "while a")], all: true)])
            #expect(
                try place.content("f")
                    == text.split(separator: "if a", omittingEmptySubsequences: false).joined(separator: "while a"))
        }
    }

    @Test(
        "Line endings, byte order marks, encodings and the last line are kept",
        arguments: [
            ("a\r\nb\r\nc\r\n", "a\r\nX\r\nY\r\nc\r\n"), ("a\r\nb\r\nc", "a\r\nX\r\nY\r\nc"), ("a\nb\nc", "a\nX\nY\nc"),
            ("a\r\nb\nc\n", "a\r\nX\nY\nc\n"), ("a\nb\r\nc\n", "a\nX\r\nY\r\nc\n"),
            ("\u{FEFF}a\nb\n", "\u{FEFF}a\nX\nY\n"),
            ("a\n\rb\n", "a\n\rX\nY\n"),
        ])
    func forms(_ old: String, _ new: String) async throws {
        try await withPlayground { place in
            for patch in [false, true] {
                for bigEndian in [nil, false, true] as [Bool?] {
                    let encode = { (text: String) in Self.encode(text, bigEndian) }
                    try place.write("f", encode(old))
                    let isOdd = old == "a\n\rb\n"
                    if patch {
                        let mark = isOdd ? "\r" : ""
                        _ = try await place.text(
                            "edit.file", ["path": "f", "patch": .string("@@ @@\n a\n-\(mark)b\n+\(mark)X\n+Y\n")])
                    } else {
                        _ = try await place.text("multi.edit", ["path": "f", "edits": Self.edits([("b", "X\nY")])])
                    }
                    #expect(
                        try place.bytes("f") == encode(new), "\(old.debugDescription), \(patch), \(bigEndian as Any)")
                }
            }
        }
    }

    private static func encode(_ text: String, _ bigEndian: Bool?) -> [UInt8] {
        guard let bigEndian else { return Array(text.utf8) }
        let marked = text.hasPrefix("\u{FEFF}") ? text : "\u{FEFF}" + text
        return marked.utf16.flatMap { unit in
            let bytes = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            return bigEndian ? bytes : bytes.reversed()
        }
    }

    @Test("Invalid UTF-8 is kept where nothing is edited")
    func foreign() async throws {
        try await withPlayground { place in
            try place.write("f", [0xE4, 0x0A] + Array("b\n".utf8) + [0xFF, 0xFE, 0x0A])
            let answer = try await place.text("multi.edit", ["path": "f", "edits": Self.edits([("b", "ä")])])
            #expect(try place.bytes("f") == [0xE4, 0x0A] + Array("ä\n".utf8) + [0xFF, 0xFE, 0x0A])
            #expect(answer.contains("+ä"))
        }
    }

    @Test("A patch is applied even if its numbers are wrong, and the result is the actual diff")
    func patches() async throws {
        try await withPlayground { place in
            let lines = (1...40).map { "line \($0)" }
            try place.write("f", lines.joined(separator: "\n") + "\n")
            let patch = """
                --- a/f
                +++ b/f
                @@ -3,3 +3,3 @@
                 line 10
                -line 11
                +eleven
                 line 12
                @@ -30,2 +30,3 @@
                 line 37
                +more
                 line 38
                """
            let dry = try await place.text("edit.file", ["path": "f", "patch": .string(patch), "dry_run": true])
            #expect(dry.contains("dry run"))
            #expect(try !place.content("f").contains("eleven"))
            let answer = try await place.text("edit.file", ["path": "f", "patch": .string(patch)])
            #expect(answer.contains("@@ -8,7 +8,7 @@") && answer.contains("hunk 1 was applied at line 10"))
            #expect(try place.content("f").contains("line 10\neleven\nline 12\n"))
            #expect(try place.content("f").contains("line 37\nmore\nline 38\n"))
            #expect(
                try await place.failure("edit.file", ["path": "f", "patch": .string(patch)]).contains(
                    "already in the file"))
            let two = "--- a/f\n+++ b/f\n@@ @@\n-more\n--- a/g\n+++ b/g\n@@ @@\n-more\n"
            #expect(
                try await place.failure("edit.file", ["path": "f", "patch": .string(two)]).contains("2 files (f, g)"))
            // The second hunk does not fit: the first is not applied either.
            let half = "@@ @@\n-more\n+less\n@@ @@\n-nowhere\n"
            #expect(try await place.failure("edit.file", ["path": "f", "patch": .string(half)]).contains("hunk 2"))
            #expect(try place.content("f").contains("more"))
        }
    }

    @Test("The result of edit.file is a patch that makes the same change again", arguments: 0..<20)
    func answers(_ round: UInt64) async throws {
        try await withPlayground { place in
            var random = SeededGenerator(seed: 600 + round)
            let old = RandomText.make(&random, words: 3) + Array("the end\n".utf8)
            let new = RandomText.changed(old, &random, words: 3)
            let diff = UnifiedDiff(from: old, to: new, named: "f")
            guard !diff.isEmpty, new.last == Byte.newline else { return }
            try place.write("f", old)
            let answer = try await place.text("edit.file", ["path": "f", "patch": .string(diff.text)])
            #expect(try place.bytes("f") == new)
            try place.write("g", old)
            _ = try await place.text("edit.file", ["path": "g", "patch": .string(answer)])
            #expect(try place.bytes("g") == new, "seed \(600 + round)")
        }
    }
}
