import Capabilities
import Screens
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite(.enabled(if: Markdown.isAvailable, "needs libcmark-gfm")) struct PaneLinkTests {
    /// What the terminal gets when a block is shown, and the rows of it.
    private func painted(
        _ block: Block, columns: Int = 60, level: ColorLevel = .ansi256
    ) -> (bytes: String, rows: [String]) {
        var pane = Pane()
        pane.show(block, columns: columns, PaneLook(level: level, now: Timestamp(microseconds: 0)))
        var cells = CellBuffer(columns: columns, rows: 8)
        _ = pane.draw(on: &cells, cells.area, isFocused: true)
        var painter = Painter(level: level, showsLinks: true)
        let bytes = String(decoding: painter.frame(showing: cells, caret: nil).bytes, as: UTF8.self)
        return (bytes, (0..<8).map { cells.text(row: $0) })
    }

    private func markdown(_ text: String, isOpen: Bool = false) -> Block {
        Block(.markdown(MarkdownText(text, isOpen: isOpen)), id: "markdown")
    }

    /// The targets of the links in what a terminal gets.
    private func targets(_ bytes: String) -> Set<String> {
        Set(
            bytes.split(separator: "\u{1B}]8;").dropFirst().compactMap { part in
                let target = part.prefix { $0 != "\u{1B}" }.drop { $0 != ";" }.dropFirst()
                return target.isEmpty ? nil : String(target)
            })
    }

    @Test(
        "A link of an answer or a document is one for the terminal, and its address is seen beside it",
        arguments: [true, false])
    func link(isOpen: Bool) {
        let text = "See [the docs](https://docs.example/a) and https://b.example/c now."
        let shown = "See the docs (https://docs.example/a) and"
        for block in [
            markdown(text, isOpen: isOpen), .transcript(Feed([said("a", .model, text, isOpen: isOpen)])),
            Block(.stack(Stack([markdown(text, isOpen: isOpen), .lines(1)], .horizontal)), id: "beside"),
        ] {
            let (bytes, rows) = painted(block, columns: 120)
            #expect(rows.contains { $0.hasPrefix(shown) }, "\(rows)")
            #expect(targets(bytes) == ["https://docs.example/a", "https://b.example/c"])
            #expect(bytes.hasSuffix("\u{1B}]8;;\u{1B}\\") || !bytes.hasSuffix("\\"))
        }
    }

    @Test("The parts of a link that is wrapped have the same id")
    func wrapped() {
        let (bytes, rows) = painted(
            markdown("[\(String(repeating: "word ", count: 12))](https://a.example/x)"), columns: 30)
        #expect(rows[1].hasPrefix("word"))
        let opened = bytes.split(separator: "\u{1B}]8;").filter { $0.contains("https://a.example/x") }
        let ids = Set(opened.map { $0.prefix { $0 != ";" } })
        #expect(ids.count == 1 && ids.first?.hasPrefix("id=") == true)
    }

    @Test("Without colours no link is sent, and the address is seen")
    func plain() {
        let (bytes, rows) = painted(markdown("[text](https://a.example)"), level: .none)
        #expect(!bytes.contains("]8;") && rows[0] == "text (https://a.example)")
    }

    @Test(
        "No other scheme, and nothing that a terminal would obey, is in a link",
        arguments: [
            ("[x](javascript:alert(1))", nil), ("[x](file:///etc/passwd)", nil), ("[x](//a.example)", nil),
            ("[x](ssh://a.example)", nil), ("[x](https://a.example/\(String(repeating: "a", count: 2_000)))", nil),
            (
                "[x](<https://a.example/\u{1B}\\\u{7}\u{9C}>)",
                "https://a.example/%E2%90%9B\\%E2%90%87%EF%BF%BD"
            ), ("[x](https://a.example/&#27;&#7;)", "https://a.example/%1B%07"),
            ("[x](https://a.example/&#x202E;b)", "https://a.example/%E2%80%AEb"),
        ] as [(String, String?)])
    func hostile(text: String, target: String?) {
        let (bytes, _) = painted(markdown(text), columns: 100)
        #expect(targets(bytes) == Set([target].compactMap { $0 }))
        // The painter itself breaks lines.
        let scalars = bytes.replacing("\r\n", with: "").unicodeScalars
        #expect(scalars.allSatisfy { $0 == "\u{1B}" || $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        #expect(!bytes.unicodeScalars.contains("\u{202E}"))
    }
}
