import CoreTesting
import FileKit
import Testing

@testable import ToolKit

@Suite(".gitignore")
struct IgnoreTests {
    @Test("A walk finds exactly what git does not ignore, in random trees with random rules", arguments: 0..<60)
    func likeGit(_ round: UInt64) async throws {
        try await withPlayground { place in
            var random = SeededGenerator(seed: 7100 + round)
            let files = try makeTree(place, &random)
            _ = try await output("git", ["init", "-q"], in: place.folder)
            let all = Set(files)
            let ignored = try await output(
                "git", ["check-ignore", "--no-index", "-z", "--stdin"], in: place.folder,
                input: Array(files.joined(separator: "\0").utf8) + [0])
            let expected = all.subtracting(
                String(decoding: ignored, as: UTF8.self).split(separator: "\0").map(String.init))
            let shown = try walk(place, .here)
            let differing = shown.symmetricDifference(expected).sorted()
            #expect(differing == [], "seed \(7100 + round)")
            #expect(try walk(place, .here, ignored: true) == all)
        }
    }

    @Test("Stars after text match folders, as in git")
    func prefixes() throws {
        let rules = IgnoreRule.parse(Array("ab**/c\n".utf8))
        #expect(rules.count == 1 && rules[0].matches(Array("abc".utf8), from: 0))
        #expect(rules[0].matches(Array("ab/x/c".utf8), from: 0) && !rules[0].matches(Array("a/c".utf8), from: 0))
    }

    @Test("A walk that begins in a subfolder applies the rules of the folders above")
    func below() async throws {
        try await withPlayground { place in
            try place.write(".gitignore", "*.log\n/sub/deep/build\n!keep.log\n")
            try place.write("sub/.gitignore", "!sub.log\nlocal\n")
            for name in ["a.log", "keep.log", "sub.log", "local", "build/x", "text"] {
                try place.write("sub/deep/\(name)", "x")
            }
            try place.link("door", to: "sub/deep")
            let expected: Set = ["keep.log", "sub.log", "text"]
            #expect(try walk(place, EntryPath("sub/deep")) == Set(expected.map { "sub/deep/\($0)" }))
            #expect(try walk(place, EntryPath("./sub//deep/")) == Set(expected.map { "sub/deep/\($0)" }))
            // Behind a link the folders above are different, so only the rules inside apply.
            #expect(try walk(place, EntryPath("door")).contains("door/a.log"))
        }
    }

    @Test("The exclude file has the lowest precedence, and links to rules are not followed")
    func sources() async throws {
        try await withPlayground { place in
            try place.write(".git/info/exclude", "private\n*.tmp\n")
            try place.write(".gitignore", "!b.tmp\r\n\u{FEFF}\n")
            try place.write("sub/rules", "*\n")
            try place.link("sub/.gitignore", to: "rules")
            for name in ["private", "a.tmp", "b.tmp", "sub/x"] { try place.write(name, "x") }
            #expect(try walk(place, .here) == [".gitignore", "b.tmp", "sub/rules", "sub/x"])
        }
    }

    private func walk(_ place: Playground, _ path: EntryPath, ignored: Bool = false) throws -> Set<String> {
        let rules = WalkRules(hidden: true, ignored: ignored)
        var walk = try TreeWalk(WalkStart(path, in: place.workspace), rules, Cancellation())
        var files: Set<String> = []
        while let entry = try walk.next() {
            if entry.kind == .regular { files.insert(String(decoding: entry.path.bytes, as: UTF8.self)) }
        }
        return files
    }

    private func makeTree(_ place: Playground, _ random: inout SeededGenerator) throws -> [String] {
        let names = ["a", "b", "ab", "abc", "a b", "a.c", "b.c", ".x", "ä", "a]", "x-y", "#a", "!b", "a "]
        var folders = [""]
        var files: Set<String> = []
        for _ in 0..<12 {
            let path =
                try #require(folders.randomElement(using: &random)) + #require(names.randomElement(using: &random))
            if !folders.contains("\(path)/"), path.utf8.count < 60 { folders.append("\(path)/") }
        }
        for _ in 0..<120 {
            let path =
                try #require(folders.randomElement(using: &random)) + #require(names.randomElement(using: &random))
            if !folders.contains("\(path)/"), files.insert(path).inserted { try place.write(path, "x") }
        }
        for folder in folders where folder.isEmpty || Bool.random(using: &random) {
            let rules = (0..<Int.random(in: 1...6, using: &random)).map { _ in rule(&random) }
            try place.write("\(folder).gitignore", rules.joined(separator: Bool.random(using: &random) ? "\n" : "\r\n"))
            files.insert("\(folder).gitignore")
        }
        return files.sorted()
    }

    private func rule(_ random: inout SeededGenerator) -> String {
        let parts = [
            "a", "b", "c", "ab", "*", "**", "?", "/", "/", ".", "[a-c]", "[!a]", "[^b.]", "[[:alpha:]]", "\\", "\\*",
            " ",
            "ä", "]", "[]a]", "a/", "**/", "/**", "/**/", "*.c", "[", "-", "[a-]", "x-y", "[[:nothing:]]", "\\ ", "***",
        ]
        let text = (0..<Int.random(in: 1...4, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
        let prefix = ["", "", "", "!", "/", "!/", "#", "\\#", "\\!"].randomElement(using: &random) ?? ""
        let suffix = ["", "", "", "/", " ", "  ", "\\"].randomElement(using: &random) ?? ""
        return prefix + text.joined() + suffix
    }
}
