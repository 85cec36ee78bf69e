import Capabilities
import FileKit
import Glibc
import JSON
import Testing

@testable import ToolKit

@Suite("ls and glob")
struct TreeToolTests {
    @Test("ls shows a tree with sizes and times, without hidden or ignored entries")
    func list() async throws {
        try await withPlayground { place in
            try place.write("src/main.swift", String(repeating: "x", count: 2048))
            try place.write("src/deep/er/file", "x")
            try place.write(".hidden", "x")
            try place.write(".gitignore", "*.o\n")
            try place.write("main.o", "x")
            try place.link("link", to: "src\nx")
            for path in ["src/main.swift", "src/deep", "src"] { try place.touch(path, seconds: 1_700_000_000) }
            let lines = try await place.lines("ls", [:])
            #expect(lines.count == 4)
            #expect(lines[0].hasSuffix("  link -> src\\u{A}x"))
            #expect(lines[1] == "         -  2023-11-14T22:13:20Z  src/")
            #expect(lines[2] == "         -  2023-11-14T22:13:20Z    deep/")
            #expect(lines[3] == "   2.0 KiB  2023-11-14T22:13:20Z    main.swift")
            let all = try await place.text("ls", ["hidden": true, "ignored": true, "depth": 9])
            #expect(all.contains(".hidden") && all.contains("main.o") && all.contains("      file"))
            #expect(try await place.lines("ls", ["depth": 1]).count == 2)
            #expect(try await place.lines("ls", ["path": "src/deep", "depth": 1]).count == 1)
            #expect(try await place.failure("ls", ["path": "src/main.swift"]).contains("not a folder"))
        }
    }

    @Test("ls gives 1000 entries and notes that there are more; an empty folder is noted")
    func listLimit() async throws {
        try await withPlayground { place in
            #expect(try await place.text("ls", [:]).contains("the folder is empty"))
            for index in 0..<1001 { try place.write("f\(index)", "") }
            let lines = try await place.lines("ls", [:])
            #expect(lines.count == 1001 && lines[1000].contains("there are more"))
        }
    }

    @Test("glob finds files by path, the last changed first")
    func glob() async throws {
        try await withPlayground { place in
            for (index, path) in ["a.swift", "src/b.swift", "src/deep/c.swift", "src/d.c", "build/e.swift"].enumerated()
            {
                try place.write(path, "x")
                try place.touch(path, seconds: 1000 + index)
            }
            try place.write(".gitignore", "build/\n")
            try place.write(".config/f.swift", "x")
            #expect(
                try await place.lines("glob", ["pattern": "**/*.swift"]) == [
                    "src/deep/c.swift", "src/b.swift", "a.swift",
                ])
            #expect(try await place.lines("glob", ["pattern": "*.swift"]) == ["a.swift"])
            #expect(try await place.lines("glob", ["pattern": "*.swift", "path": "src"]) == ["src/b.swift"])
            #expect(try await place.lines("glob", ["pattern": "**/*.{c,h}"]) == ["src/d.c"])
            #expect(try await place.lines("glob", ["pattern": ".config/*"]) == [".config/f.swift"])
            #expect(try await place.lines("glob", ["pattern": "build/*", "ignored": true]) == ["build/e.swift"])
            let limited = try await place.lines("glob", ["pattern": "**", "limit": 2])
            #expect(limited.prefix(2) == ["src/d.c", "src/deep/c.swift"] && limited[2].contains("4 files fit"))
            #expect(try await place.text("glob", ["pattern": "*.rs"]) == "[no file matches the pattern]")
            #expect(try await place.failure("glob", ["pattern": "[a"]).contains("bracket"))
        }
    }

    @Test("glob keeps the newest of many files")
    func newest() throws {
        var newest = Newest(limit: 3)
        for index in 0..<20_000 {
            newest.add(EntryPath(bytes: Array("\(index)".utf8)), .init(microseconds: Int64(index * 7919 % 20_000)))
        }
        #expect(newest.count == 20_000)
        let times = newest.paths.map { (Int($0.shown) ?? 0) * 7919 % 20_000 }
        #expect(times == [19_999, 19_998, 19_997])
    }

    @Test("Names with line breaks, terminal sequences and invalid UTF-8 stay on one line")
    func names() async throws {
        try await withPlayground { place in
            let names = ["new\nline", "red\u{1B}[31m", "turn\u{202E}ed", "tab\tbed"]
            for name in names { try place.write(name, "needle\n") }
            let odd = Array("\(place.folder)/".utf8).map(CChar.init(bitPattern:)) + [-1, -2, 0x78, 0]
            let opened = unsafe creat(odd, 0o600)
            try #require(opened >= 0)
            try #require(unsafe write(opened, "needle\n", 7) == 7)
            close(opened)
            for (tool, input) in [("ls", [:]), ("glob", ["pattern": "*"]), ("grep.search", ["pattern": "needle"])]
                as [(String, JSONObject)]
            {
                let text = try await place.text(tool, input)
                #expect(text.split(separator: "\n").count == 5, "\(text)")
                #expect(
                    text.contains("new\\u{A}line") && text.contains("red\\u{1B}[31m")
                        && text.contains("turn\\u{202E}ed"))
                #expect(text.contains("\u{FFFD}\u{FFFD}x") && !text.contains("\u{1B}") && !text.contains("\t"))
            }
            #expect(try await place.text("fs.read", ["path": "new\nline"]).contains("needle"))
        }
    }

    @Test("Circular links are shown and not followed")
    func circles() async throws {
        try await withPlayground { place in
            try place.write("a/file", "needle")
            try place.link("a/up", to: "..")
            try place.link("a/self", to: ".")
            #expect(try await place.lines("grep.search", ["pattern": "needle"]) == ["a/file:1:needle"])
            #expect(try await place.lines("ls", ["depth": 64]).count == 4)
        }
    }

    @Test("A tree deeper than the maximum path length is walked as far as possible")
    func deep() async throws {
        try await withPlayground { place in
            let name = String(repeating: "d", count: 200)
            var folder = unsafe open(place.folder, O_RDONLY | O_DIRECTORY)
            for _ in 0..<30 {
                try #require(unsafe mkdirat(folder, name, 0o700) == 0)
                let next = unsafe openat(folder, name, O_RDONLY | O_DIRECTORY)
                close(folder)
                folder = next
            }
            close(folder)
            let text = try await place.text("glob", ["pattern": "**/x"])
            #expect(text.contains("no file matches") && text.contains("skipped"))
        }
    }

    @Test("Unreadable folders are noted, and the others are walked")
    func unreadable() async {
        // In a separate process, which gives up the rights of root.
        await #expect(processExitsWith: .success) {
            try await withPlayground { place in
                try place.write("open/file", "needle")
                try place.write("closed/file", "needle")
                try place.write("locked", "needle")
                try #require(unsafe chmod(place.base, 0o755) == 0)
                for path in ["", "/open"] { try #require(unsafe chmod(place.folder + path, 0o755) == 0) }
                try #require(unsafe chmod("\(place.folder)/open/file", 0o644) == 0)
                try #require(unsafe chmod("\(place.folder)/closed", 0) == 0)
                try #require(unsafe chmod("\(place.folder)/locked", 0) == 0)
                try #require(seteuid(65534) == 0 || geteuid() != 0)
                let found = try await place.text("grep.search", ["pattern": "needle"])
                #expect(found.hasPrefix("open/file:1:needle\n[skipped: "))
                #expect(found.contains("cannot read closed: permission denied") && found.contains("locked"))
                #expect(try await place.text("ls", [:]).contains("cannot read closed"))
                #expect(try await place.failure("fs.read", ["path": "locked"]).contains("permission denied"))
                #expect(try await place.failure("ls", ["path": "closed"]).contains("permission denied"))
                _ = seteuid(getuid())
                try #require(unsafe chmod("\(place.folder)/closed", 0o700) == 0)
            }
        }
    }
}
