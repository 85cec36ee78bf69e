import CoreTesting
import FileKit
import Glibc
import LoopKit
import Testing

@testable import ToolKit

@Suite("Unified diffs", .timeLimit(.minutes(10)))
struct DiffTests {
    @Test("A diff of random texts turns one into the other, with any number of context lines", arguments: 0..<8)
    func roundTrip(_ round: UInt64) throws {
        var random = SeededGenerator(seed: 4100 + round)
        for _ in 0..<250 {
            let old = RandomText.make(&random)
            let new = Bool.random(using: &random) ? RandomText.changed(old, &random) : RandomText.make(&random)
            let context = Int.random(in: 0...4, using: &random)
            let diff = UnifiedDiff(from: old, to: new, named: "f", context: context)
            #expect(diff.isEmpty == (old == new), "seed \(4100 + round)")
            #expect(try diff.applied(to: old) == new, "seed \(4100 + round), context \(context)")
            guard !diff.isEmpty else { continue }
            let read = try UnifiedDiff.parse(diff.bytes)
            #expect(read == [diff], "seed \(4100 + round)")
            // With wrong numbers it is rejected or applied correctly; with context lines it is never wrong.
            if context == 3, let moved = try? spoiled(diff).applied(to: old) {
                #expect(moved == new || diff.hunks.contains { $0.oldCount < 7 }, "seed \(4100 + round)")
            }
        }
    }

    private func spoiled(_ diff: UnifiedDiff) -> UnifiedDiff {
        var diff = diff
        for index in diff.hunks.indices { diff.hunks[index].oldStart = nil }
        return diff
    }

    @Test("patch and git apply accept our diffs, and diffs of git are read", arguments: 0..<4)
    func peers(_ round: UInt64) async throws {
        try await withPlayground { place in
            var random = SeededGenerator(seed: 5200 + round)
            for number in 0..<12 {
                var old = RandomText.make(&random)
                let new = RandomText.changed(old, &random)
                guard old != new else { continue }
                // To git an empty file differs from a missing one.
                if old.isEmpty { old = [Byte.newline] }
                let name = ["plain.txt", "with a space", "quote\"d", "ümlaut", "new\nline"][number % 5]
                let diff = UnifiedDiff(from: old, to: new, named: name)
                guard !diff.isEmpty else { continue }
                try place.write("p/\(name)", old)
                _ = try await output("patch", ["-s", "-p1", "-d", "p"], in: place.folder, input: diff.bytes)
                #expect(try place.bytes("p/\(name)") == new, "patch, seed \(5200 + round)")
                try place.write("g/\(name)", old)
                _ = try await output(
                    "git", ["apply", "--whitespace=nowarn", "-p1", "-"], in: "\(place.folder)/g", input: diff.bytes)
                #expect(try place.bytes("g/\(name)") == new, "git apply, seed \(5200 + round)")

                try place.write("old", old)
                try place.write("new", new)
                let theirs = try await output(
                    "git", ["diff", "--no-index", "--no-color", "old", "new"], in: place.folder)
                if !theirs.isEmpty {
                    let read = try UnifiedDiff.parse(theirs)
                    #expect(read.count == 1 && read[0].oldName == "old" && read[0].newName == "new")
                    #expect(try read[0].applied(to: old) == new, "git diff, seed \(5200 + round)")
                }
            }
        }
    }

    @Test("Diffs of new and removed files are accepted by git")
    func wholeFiles() async throws {
        try await withPlayground { place in
            let text = Array("one\ntwo".utf8)
            let made = UnifiedDiff(from: nil, to: text, named: "x")
            #expect(made.text == "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n")
            _ = try await output("git", ["apply", "-"], in: place.folder, input: made.bytes)
            #expect(try place.content("x") == "one\ntwo")
            let gone = UnifiedDiff(from: text, to: nil, named: "x")
            _ = try await output("git", ["apply", "-"], in: place.folder, input: gone.bytes)
            #expect(try place.names() == [])
        }
    }

    @Test("A diff is as short as that of diff, and shows a new function with its own closing brace")
    func shortest() async throws {
        try await withPlayground { place in
            var random = SeededGenerator(seed: 77)
            for _ in 0..<40 {
                let old = RandomText.make(&random, words: 12)
                let new = RandomText.changed(old, &random)
                try place.write("old", old)
                try place.write("new", new)
                let theirs = try await output("diff", ["--minimal", "-u", "old", "new"], in: place.folder)
                let count = theirs.isEmpty ? 0 : try UnifiedDiff.parse(theirs).reduce(0) { $0 + $1.added + $1.removed }
                let ours = UnifiedDiff(from: old, to: new, named: "f")
                #expect(ours.added + ours.removed == count)
            }
        }
        let old = "func a() {\n    one()\n}\n\nfunc c() {\n    three()\n}\n"
        let new = "func a() {\n    one()\n}\n\nfunc b() {\n    two()\n}\n\nfunc c() {\n    three()\n}\n"
        let lines = UnifiedDiff(from: Array(old.utf8), to: Array(new.utf8), named: "f").hunks[0].lines
        #expect(lines.filter { $0.kind == .added }.map(\.text) == ["func b() {", "    two()", "}", ""])
    }

    @Test("Diffs of unrelated texts and of one changed line among many are fast")
    func bounded() async throws {
        // On a separate thread, not on those that all tests share.
        try await onOwnThread { Result { try Self.checkBounds() } }.get()
    }

    private static func checkBounds() throws {
        var random = SeededGenerator(seed: 8)
        // The same lines in unrelated orders.
        let old = (0..<30_000).map { _ in "\(Int.random(in: 0..<3000, using: &random))\n" }
        let new = (0..<30_000).map { _ in "\(Int.random(in: 0..<3000, using: &random))\n" }
        let (a, b) = (Array(old.joined().utf8), Array(new.joined().utf8))
        var diff = UnifiedDiff(from: a, to: a, named: "f")
        #expect(threadSeconds { diff = UnifiedDiff(from: a, to: b, named: "f") } < 30)
        #expect(try diff.applied(to: a) == b)

        var lines = old
        lines[17_000] = "another\n"
        let one = UnifiedDiff(from: a, to: Array(lines.joined().utf8), named: "f")
        #expect(one.added == 1 && one.removed == 1 && one.hunks.count == 1)
    }

    @Test("An invalid patch is rejected with a remedy, and no input causes a crash")
    func malformed() throws {
        for (text, words) in [
            ("", "no changes"), ("hello\nworld\n", "no changes"), ("--- a\n+++ b\n", "no changes"),
            ("@@ -1 +1 @@\n same\n", "no changes"),
            ("@@ -1,2 +1,2 @@\n-a\n+b\nc\n", "line 4 of the patch does not begin with"),
            ("Binary files a/x and b/x differ\n", "binary"), ("@@ -1 +1 @@\n*a\n", "does not begin with"),
        ] {
            let error = #expect(throws: WorkspaceError.self) { try UnifiedDiff.parse(text) }
            #expect(error?.kind == .patch && error?.message.contains(words) == true, "\(text)")
        }
        var random = SeededGenerator(seed: 12)
        let pieces = [
            "@@", " -1,", "99999999999999", "+0", "\n", "--- a", "+++ b", "-", "+", " ", "\\", "\"\\", "\r", "é",
        ]
        for _ in 0..<3000 {
            let count = Int.random(in: 0...30, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            // It may be a valid patch by chance; then it fits or does not.
            if let diffs = try? UnifiedDiff.parse(text) {
                for diff in diffs { _ = try? diff.applied(to: Array("a\nb\n".utf8)) }
            }
        }
    }

    @Test("Patches with wrong counts, no numbers, lost spaces or several files are read")
    func lenient() throws {
        let old = Array("a\n\nb\nc\nd\ne\nf\n".utf8)
        let new = "a\n\nb\nC\nd\ne\nf\n"
        for patch in [
            "@@ -1,99 +1,2 @@\n a\n\n b\n-c\n+C\n d\n", "@@\n b\n-c\n+C\n d\n", "@@ ... @@\n-c\n+C\n",
            "some words\n--- a/x\n+++ b/x\n@@ -40,3 +40,3 @@ func x\n b\n-c\n+C\n d\n",
            "@@ -2,4 +2,4 @@\n\n b\n-c\n+C\n d\n\n", "```diff\n@@ -3,3 +3,3 @@\n b\n-c\n+C\n d\n```\n",
            "@@ -3,3 +3,3 @@\n b\n-c\n+C\n d\n-- \n2.39.5\n",
        ] {
            let diff = try UnifiedDiff.parse(patch)
            #expect(diff.count == 1, "\(patch)")
            #expect(String(decoding: try diff[0].applied(to: old), as: UTF8.self) == new, "\(patch)")
        }
        let two = try UnifiedDiff.parse(
            "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\n--- a/y\t2020\n+++ "
                + "\"b/\\303\\244\\n\"\n@@ -1 +1 @@\n--- c\n+++ d\n")
        #expect(two.map(\.newName) == ["x", "ä\n"] && two[1].oldName == "y")
        #expect(two[1].hunks[0].lines.map(\.text) == ["-- c", "++ d"])
    }

    @Test("A hunk is applied where its lines are, and rejected if that is ambiguous")
    func placing() throws {
        let block = "start\nsame\nend\n"
        let old = "one\n" + block + "two\n" + block + "three\n"
        func apply(_ patch: String) throws -> String {
            String(decoding: try UnifiedDiff.parse(patch)[0].applied(to: Array(old.utf8)), as: UTF8.self)
        }
        // At the stated place, although the lines also occur elsewhere.
        #expect(try apply("@@ -6,3 +6,3 @@\n start\n-same\n+new\n end\n").hasSuffix("two\nstart\nnew\nend\nthree\n"))
        // The line after it differs, but the hunk still fits at one place only.
        #expect(try apply("@@ -90 +90 @@\n two\n start\n-same\n+new\n end\n was\n").hasSuffix("new\nend\nthree\n"))
        for (patch, words) in [
            ("@@ -3,3 +3,3 @@\n start\n-same\n+new\n end\n", "2 places, such as lines 2, 6"),
            ("@@ @@\n-same\n+new\n", "2 places"),
            (
                "@@ -1,3 +1,3 @@\n one\n start\n-other\n+new\n end\n",
                "expected 'other', but line 3 of the file is 'same'"
            ),
            ("@@ -1 +1 @@\n-nothing\n+new\n", "none of its lines"),
            ("@@ -1,2 +1,2 @@\n-1\n+one\n start\n", "already in the file"),
            ("@@ @@\n+new\n", "gives no place"),
            ("@@ -100,0 +101 @@\n+new\n", "gives no place"),
            ("@@ -9 +9 @@\n three\n-\n+x\n", "the file ends after line 9"),
        ] {
            let error = #expect(throws: WorkspaceError.self) { try apply(patch) }
            #expect(error?.message.contains(words) == true, "\(patch): \(error?.message ?? "")")
        }
    }

    @Test("The end of a file is unchanged unless the patch changes it")
    func lastLine() throws {
        for (old, patch, new) in [
            ("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc"), ("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc\n"),
            ("a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\nc"),
            ("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n", "a\nc\n"),
            ("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n", "a\nc"),
            ("a\nb", "@@ -1,2 +1 @@\n-a\n b\n", "b"), ("", "@@ -0,0 +1 @@\n+a\n", "a\n"),
        ] {
            let diff = try UnifiedDiff.parse(patch)[0]
            #expect(String(decoding: try diff.applied(to: Array(old.utf8)), as: UTF8.self) == new, "\(old) \(patch)")
        }
    }
}

/// Texts with few different lines, so that there are many similar places.
enum RandomText {
    static func make(_ random: inout SeededGenerator, words: Int = 6) -> [UInt8] {
        var text: [UInt8] = []
        for _ in 0..<Int.random(in: 0...40, using: &random) { text += line(&random, words) }
        if Bool.random(using: &random), text.last == Byte.newline { text.removeLast() }
        return text
    }

    static func changed(_ old: [UInt8], _ random: inout SeededGenerator, words: Int = 6) -> [UInt8] {
        var text: [UInt8] = []
        for line in old.split(separator: Byte.newline, omittingEmptySubsequences: false) {
            switch Int.random(in: 0..<12, using: &random) {
            case 0: continue
            case 1: text += self.line(&random, words)
            case 2: text += self.line(&random, words) + line + [Byte.newline]
            default: text += line + [Byte.newline]
            }
        }
        if Int.random(in: 0..<3, using: &random) > 0, text.last == Byte.newline { text.removeLast() }
        return text
    }

    private static func line(_ random: inout SeededGenerator, _ words: Int) -> [UInt8] {
        let all: [[UInt8]] = [
            Array("a".utf8), [], Array("}".utf8), Array("-- x".utf8), [0xFF, 0x80], Array("é\r".utf8), Array("+".utf8),
            Array("\\ No newline".utf8), Array("@@ -1 +1 @@".utf8), Array(" ".utf8), Array("++ y".utf8),
            Array("b".utf8),
        ]
        return (all.prefix(words).randomElement(using: &random) ?? []) + [Byte.newline]
    }
}
