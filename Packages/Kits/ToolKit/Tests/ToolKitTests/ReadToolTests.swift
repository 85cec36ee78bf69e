import Capabilities
import JSON
import Testing

@testable import ToolKit

@Suite("fs.read")
struct ReadToolTests {
    @Test("Lines have numbers, and the last one needs no line break")
    func numbers() async throws {
        try await withPlayground { place in
            try place.write("a", "one\n\nthree")
            #expect(try await place.text("fs.read", ["path": "a"]) == "     1\tone\n     2\t\n     3\tthree\n")
            try place.write("a", "one\n")
            #expect(try await place.text("fs.read", ["path": "a"]) == "     1\tone\n")
            try place.write("a", "")
            #expect(try await place.text("fs.read", ["path": "a"]) == "[the file is empty]")
        }
    }

    @Test("The example of the README works")
    func example() async throws {
        try await withPlayground { place in
            try place.write("README.md", "# Hello\n")
            let tools = WorkspaceTools(try Workspace(place.folder))
            let result = try await tools.run(ToolCall(id: "1", name: "fs.read", input: ["path": "README.md"]))
            #expect(result == ToolResult(call: "1", content: "     1\t# Hello\n"))
        }
    }

    @Test("A part starts at offset, and a note gives the next offset")
    func parts() async throws {
        try await withPlayground { place in
            let lines = (1...4500).map { "line \($0)" }
            try place.write("a", lines.joined(separator: "\n"))
            var (offset, seen): (Int?, [String]) = (1, [])
            while let first = offset {
                let text = try await place.text("fs.read", ["path": "a", "offset": .int(first)])
                seen += text.split(separator: "\n").compactMap {
                    $0.split(separator: "\t").dropFirst().first.map(String.init)
                }
                offset = text.firstMatch(of: /go on with offset (\d+)/).flatMap { Int($0.output.1) }
            }
            #expect(seen == lines)
            let two = try await place.lines("fs.read", ["path": "a", "offset": 4499, "limit": 5])
            #expect(two == ["  4499\tline 4499", "  4500\tline 4500"])
            let error = try await place.failure("fs.read", ["path": "a", "offset": 4501])
            #expect(error.contains("has only 4500 lines"))
        }
    }

    @Test("A result has at most 256 KiB, in whole lines")
    func bytes() async throws {
        try await withPlayground { place in
            try place.write("a", String(repeating: String(repeating: "x", count: 999) + "\n", count: 1000))
            let text = try await place.text("fs.read", ["path": "a"])
            #expect(text.utf8.count > 250 << 10 && text.utf8.count < (256 << 10) + 200)
            #expect(text.contains("go on with offset 261"))
        }
    }

    @Test("Long lines are cut between characters, and the cut is noted")
    func longLines() async throws {
        try await withPlayground { place in
            try place.write("a", "x" + String(repeating: "ä", count: 5000) + "\r\nshort")
            let lines = try await place.lines("fs.read", ["path": "a"])
            #expect(lines[0].hasSuffix("ä… [cut: the line has 10002 bytes]"))
            #expect(!lines[0].contains("\u{FFFD}") && lines[0].utf8.count < 2100)
            #expect(lines[1] == "     2\tshort")
        }
    }

    @Test("CR LF line endings are noted and not shown")
    func windows() async throws {
        try await withPlayground { place in
            try place.write("a", "one\r\ntwo\r\n")
            #expect(
                try await place.lines("fs.read", ["path": "a"]) == [
                    "     1\tone", "     2\ttwo", "[the lines end in CR LF, which is not shown]",
                ])
            try place.write("a", "one\r\ntwo\n")
            #expect(try await place.text("fs.read", ["path": "a"]).contains("[1 lines end in CR LF"))
        }
    }

    @Test("UTF-16 of both byte orders is shown as text, even with an unpaired surrogate", arguments: [false, true])
    func utf16(_ isBigEndian: Bool) async throws {
        try await withPlayground { place in
            let text = "ä😀\n" + String(repeating: "😀", count: 400) + "\nend"
            let whole = "\u{FEFF}" + String(repeating: "x", count: 32_766) + "\n" + text
            let bytes = Array(whole.utf16).flatMap { unit in
                isBigEndian ? [UInt8(unit >> 8), UInt8(unit & 255)] : [UInt8(unit & 255), UInt8(unit >> 8)]
            }
            try place.write("a", bytes)
            let lines = try await place.lines("fs.read", ["path": "a", "offset": 2])
            #expect(lines[0] == "     2\tä😀" && lines[2] == "     4\tend")
            #expect(lines[3].contains("UTF-16"))
            #expect(lines[1] == "     3\t" + String(repeating: "😀", count: 400))
            try place.write("a", bytes + [0])
            #expect(try await place.text("fs.read", ["path": "a"]).contains("\u{FFFD}"))
        }
    }

    @Test("The UTF-16 decoder gives the same text wherever its input is cut")
    func decoder() {
        let text = "aä日😀\u{FFFD}z"
        let bytes = Array(text.utf16).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        for cut in 0...bytes.count {
            var decoder = UTF16Decoder(isBigEndian: false)
            let decoded = decoder.decode(bytes[..<cut]) + decoder.decode(bytes[cut...]) + decoder.finish()
            #expect(decoded == Array(text.utf8), "cut at \(cut)")
        }
    }

    @Test("Invalid UTF-8 is replaced and counted, and a byte order mark is noted")
    func repairs() async throws {
        try await withPlayground { place in
            try place.write("a", Array("\u{FEFF}one\n".utf8) + [0x66, 0xFC, 0x72, 0x0A] + Array("three".utf8))
            let text = try await place.text("fs.read", ["path": "a"])
            #expect(text.hasPrefix("     1\tone\n     2\tf\u{FFFD}r\n     3\tthree\n"))
            #expect(text.contains("byte order mark") && text.contains("1 lines contain invalid UTF-8"))
        }
    }

    @Test(
        "The kind and size of a binary file are shown",
        arguments: [
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "PNG image"),
            ([0x7F, 0x45, 0x4C, 0x46, 0], "ELF program"),
            (Array("%PDF-1.7 text".utf8), "PDF document"), (Array("GIF89a".utf8) + [0], "GIF image"),
            ([0x61, 0, 0x62], "binary file"), ([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], "UTF-32"),
        ] as [([UInt8], String)])
    func binary(_ bytes: [UInt8], _ kind: String) async throws {
        try await withPlayground { place in
            try place.write("a", bytes)
            let text = try await place.text("fs.read", ["path": "a"])
            #expect(text.contains(kind) && text.contains("\(bytes.count) B") && !text.contains("\t"))
        }
    }

    @Test("A text that begins like a picture is text")
    func almostBinary() async throws {
        try await withPlayground { place in
            try place.write("a", "GIF89a is a format\n")
            #expect(try await place.text("fs.read", ["path": "a"]) == "     1\tGIF89a is a format\n")
        }
    }

    @Test("A missing path is reported with a suggestion, and a folder with the tool to list it")
    func missing() async throws {
        try await withPlayground { place in
            try place.write("src/main.swift", "x")
            #expect(
                try await place.failure("fs.read", ["path": "src/mian.swift"]).contains("did you mean 'main.swift'?"))
            #expect(try await place.failure("fs.read", ["path": "src/other"]).contains("use ls or glob to find it"))
            #expect(try await place.failure("fs.read", ["path": "src"]).contains("use ls to list it"))
            #expect(try await place.failure("fs.read", ["path": "a\u{1B}[2J"]).contains("a\\u{1B}[2J"))
        }
    }

    @Test("The input is checked against the schema, and each problem is reported")
    func input() async throws {
        try await withPlayground { place in
            #expect(try await place.failure("fs.read", [:]).contains("path: is missing"))
            let error = try await place.failure("fs.read", ["path": "a", "offset": 0, "limits": 3])
            #expect(error.contains("offset: must be from 1") && error.contains("did you mean 'limit'?"))
            #expect(try await place.failure("fs.reed", ["path": "a"]).contains("did you mean 'fs.read'?"))
            let descriptions = try await WorkspaceTools(place.workspace).tools()
            #expect(descriptions.map(\.name) == ["fs.read", "ls", "glob", "grep.search"])
            #expect(descriptions.allSatisfy { $0.effect == .reads && $0.input["additionalProperties"] == false })
            #expect(descriptions[0].input["required"] == ["path"])
            #expect(place.tools.name == "files" && WorkspaceTools.patternLibraryVersion.hasPrefix("10."))
        }
    }
}
