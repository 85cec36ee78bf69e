import Testing

@testable import TerminalKit

@Suite struct FencedBlockTests {
    private func last(_ text: String, isOpen: Bool = false) -> String? {
        Markdown.lastFencedBlock(in: text, isOpen: isOpen)?.text
    }

    @Test(
        "The last fenced block of a document is found, whatever its fence is and wherever it stands",
        arguments: [
            ("```\none\n```\ntext\n```swift\nlet a = 1\n\nlet b = 2\n```\nend", "let a = 1\n\nlet b = 2"),
            ("~~~\ntilde\n~~~", "tilde"), ("````\n```\ninner\n```\n````", "```\ninner\n```"),
            ("~~~\n```\ninner\n```\n~~~\n", "```\ninner\n```"), ("- list\n\n  ```\n  in a list\n  ```\n", "in a list"),
            ("> ```\n> quoted\n>\n>   indented\n> ```\n", "quoted\n\n  indented"),
            ("   ```\n   a\n     b\n   ```", "a\n  b"),
            ("```\ntab\there\n```", "tab\there"), ("```\r\none\r\ntwo\r\n```\r\n", "one\ntwo"),
            ("```\nnever closed", "never closed"), ("```\nlast line end\n\n\n```", "last line end\n\n"),
            ("1. a\n   1. b\n      ~~~sh\n      deep\n      ~~~\n", "deep"),
        ])
    func found(text: String, code: String) { #expect(last(text) == code) }

    @Test(
        "Indented code, code in a line, and a fence without code are none",
        arguments: [
            "", "text", "    indented", "a `span` and ``another``", "```\n```", "``` not a fence ```", "``\ntwo\n``",
            "\\```\nescaped\n\\```", "    ```\n    in indented code\n    ```",
        ])
    func none(text: String) { #expect(last(text) == nil) }

    @Test("Indented code after a fenced block, and an empty block after it, do not hide it")
    func hidden() {
        #expect(last("```\ncode\n```\n\n    indented\n") == "code")
        #expect(last("```\ncode\n```\n\n```\n```\n") == "code")
    }

    @Test("While an answer is written, its last block is finished once it is closed")
    func growing() {
        let text = "```\nfirst\n```\n\n~~~ swift ui\nlet a = 1\nlet b\n~~~\nend"
        for count in 0...text.utf8.count {
            let part = String(decoding: text.utf8.prefix(count), as: UTF8.self)
            let block = Markdown.lastFencedBlock(in: part, isOpen: true)
            let isInFirst = part.hasPrefix("```\n") && !part.contains("first\n```\n")
            let isInSecond = part.contains("ui\n") && !part.contains("b\n~~~\n")
            #expect(block?.isFinished == (part.hasPrefix("```\n") ? !(isInFirst || isInSecond) : nil), "\(part)")
            if block?.isFinished == true {
                #expect(block?.text == (isInSecond || part.contains("~~~\n") ? "let a = 1\nlet b" : "first"))
            }
        }
        let whole = Markdown.lastFencedBlock(in: text)
        #expect(whole == Markdown.FencedBlock(info: "swift ui", text: "let a = 1\nlet b\n"))
    }

    @Test("A long block in a list is whole")
    func long() {
        let lines = (0..<4_000).map { "line \($0) of a long block" }
        let text = "- ```\n" + lines.map { "  \($0)\n" }.joined() + "  ```\n\nend"
        #expect(last(text) == lines.joined(separator: "\n"))
    }

    @Test("What a terminal or an editor would obey is copied as it is shown")
    func controls() {
        #expect(last("```\na\u{1B}[2Jb\u{202E}c\u{7}\n```") == "a␛[2Jb‹U+202E›c␇")
    }

    @Test("Nested marks are read in time", .timeLimit(.minutes(1)))
    func hostile() {
        let line = String(repeating: "> ", count: 2_000)
        let text = (0..<50).map { _ in "- ```\n\(line)\n" }.joined() + "```\nend\n```"
        #expect(last(text) == "end")
    }
}
