import CoreTesting
@_spi(Fuzzing) import TerminalKit
import Testing

@Suite struct MarkdownHostileTests {
    @Test(
        "Ten thousand levels of any nesting are drawn",
        arguments: [
            "> ", ">", "- ", "1. ", "- > ", "[", "![", "*a ", "**a _b ", "~~a ", "(", "<", "<a ", "`", "``a`", "[a](",
            "[a][", "a@",
            "www.a", "&#", "\\", "|", "<!--", "*", "_", "[a]: ", "\t",
        ])
    func nesting(pattern: String) {
        let text = String(repeating: pattern, count: 10_000)
        for text in [text, text + "end", text + "\n" + text, text + "\n\n\n" + text] {
            let lines = Markdown.render(text, width: 40, level: .truecolor, links: true)
            #expect(lines.allSatisfy { $0.width <= 40 })
        }
    }

    @Test(
        "Long text without a space is drawn in time proportional to its length", .timeLimit(.minutes(5)),
        arguments: ["www._", "a@", "*a_", "https://", "a.b@c."])
    func unbroken(pattern: String) {
        func work(_ size: Int) -> Double {
            let text = String(repeating: pattern, count: size / pattern.utf8.count)
            return threadSeconds { #expect(!Markdown.render(text, width: nil, level: .ansi256, links: true).isEmpty) }
        }
        // The minimum of several runs, because the first has to allocate its memory.
        let few = (0..<3).map { _ in work(4_000) }.min() ?? 0
        // Eight times the text would take 64 times as long if every byte were compared with every other.
        let most = max(few, 0.000_5) * 32
        #expect(work(32_000) < most, "\(few)")
    }

    @Test("Ten thousand brackets and quotes are kept")
    func kept() {
        let brackets = String(repeating: "[", count: 10_000)
        #expect(Markdown.render(brackets, width: 40, level: .none).map(\.plainText).joined() == brackets)
        let deep = Markdown.render(String(repeating: "> ", count: 10_000) + "end", width: 40, level: .none)
        #expect(deep.last?.plainText.hasSuffix("end") == true)
    }

    @Test("Ten thousand empty lines after deep lists cost nothing")
    func emptyLines() {
        let text = String(repeating: "- ", count: 10_000) + "a" + String(repeating: "\n", count: 10_000) + "b"
        #expect(Markdown.render(text, width: 40, level: .none).last?.plainText == "b")
    }

    @Test(
        "Text cannot control the terminal",
        arguments: [
            "\u{1B}[2J", "\u{1B}]52;c;aGk=\u{07}", "`\u{1B}[2J`", "```\n\u{1B}[2J\n```", "&#27;[2J", "&#x1b;]0;x&#7;",
            "&#x9b;2J", "&#x202e;",
            "[a](https://a.example/&#27;]8;;)", "[a](https://a.example/%1b&#x9b; \"&#27;\")", "![&#27;](x)",
            "```sh&#27;\nx\n```",
            "[x&#27;]: /a&#27; \"&#7;\"\n[x&#27;]", "<b \u{1B}[31m>", "|a&#27;|\n|-|\n|\u{9B}|", "a\u{0}b\rc",
            "\u{1B}\n===", "<https://a/\u{1B}>",
            "1\u{1B}. x", "- [\u{1B}] x",
        ])
    func sequences(text: String) {
        MarkdownFuzz.render(Array(text.utf8))
        for level in [ColorLevel.none, .ansi16, .truecolor] {
            for line in Markdown.render(text, width: 40, level: level, links: true) {
                let rest = MarkdownFuzz.withoutOwnSequences(line.rendered(level: level))
                #expect(
                    !rest.unicodeScalars.contains {
                        $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.value == 0x202E
                    })
            }
        }
    }

    @Test("Random bytes keep every promise", arguments: UInt64(1)...60)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let special =
            Array("#*_`~[]()<>|-+.:!&;\\\"'=/1x \t\n\n\r".utf8) + [0x1B, 0x00, 0xC2, 0x9B, 0xE6, 0xBC, 0xA2, 0xFF]
        MarkdownFuzz.render((0..<300).map { _ in special.randomElement(using: &random) ?? 0 })
        MarkdownFuzz.render(Array(random.markdown(lines: 20).utf8))
    }

    @Test("Every word of the source is shown", arguments: UInt64(1)...60)
    func nothingLost(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var text = ""
        for number in 0..<40 {
            let line = random.markdown(lines: 1)
            text += line.contains("&") ? line : line + "w\(number)w"
            text += "\n"
        }
        for level in [ColorLevel.none, .ansi256] {
            let picture = Markdown.render(text, width: nil, level: level).map(\.plainText).joined(separator: "\n")
            for number in 0..<40 where text.contains("w\(number)w") {
                #expect(picture.contains("w\(number)w"), "w\(number)w of seed \(seed) in\n\(text)")
            }
        }
    }

    @Test("Documents read in parallel are the same as alone")
    func concurrent() async {
        let alone = Markdown.render(everyBlock, width: 60, level: .ansi256)
        let same = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    (0..<20).allSatisfy { _ in Markdown.render(everyBlock, width: 60, level: .ansi256) == alone }
                }
            }
            return await group.allSatisfy { $0 }
        }
        #expect(same)
    }
}
