import CoreTesting

@testable import TerminalKit

/// A document drawn without colours.
func drawn(_ text: String, _ width: Int?, links: Bool = false) -> [String] {
    Markdown.render(text, width: width, level: .none, links: links).map(\.plainText)
}

/// A stream of pieces, drawn as all its lines.
func streamed(_ pieces: [[UInt8]], width: Int = 40, level: ColorLevel = .truecolor) -> [StyledText] {
    var stream = MarkdownStream(width: width, level: level, links: true)
    var lines: [StyledText] = []
    for piece in pieces { lines += stream.append(piece) }
    return lines + stream.finish()
}

/// A document with every kind of block, and no definitions.
let everyBlock = """
    # Title with *emph* and `code`

    A paragraph with **strong** text, ~~gone~~, a [link](https://example.com) and <https://auto.example>.
    漢字の文章がここにあります 👨‍👩‍👧‍👦 e\u{301}\\
    after a hard break
    1. First
    2. Second
       - nested
         - [x] deep

       its paragraph

    10. ```python
        def f(x): return "s"  # comment

        y = 1
        ```
    > Quote
    lazy
    > > nested

    | Name | Größe |
    |:-----|------:|
    | 漢字 | `a | b` |

    ~~~swift
    let x = 1

    - no list
    ~~~
        indented

        code
    <div>
    raw *html*

    </div>
    ***
    Setext
    ---
    last [ref][none] &lt; &#27;[0m
    """

extension SeededGenerator {
    /// A document of lines that begin, continue and end blocks in every order.
    mutating func markdown(lines: Int) -> String {
        let kinds = [
            "# heading", "text word **bold *both* b** `code`", "more *text", "- item", "  - nested", "    - deeper",
            "* star",
            "1. one", "2. two", "10) ten", "> quote", "> - list in quote", ">> deep", "```", "```swift", "~~~", "  ```",
            "    let code = 1", "\ttab", "| a | b |", "|---|:-:|", "| 1 | 2 | 3 |", "a|b", "", "", "", "   ", "***",
            "---",
            "===", "<div>", "</div>", "<!-- comment", "-->", "<b>inline</b>", "[link](https://e.example 'title')",
            "![image](x.png)", "- [ ] task", "- [x] done", "-", "1.", "   three spaces", "end  ", "hard\\", "漢字 👍🏽 テスト",
            "a very long line of many words that has to be wrapped at any width that is tested here",
            "&amp; &#27;[1m \\* _x_",
        ]
        return (0..<lines).map { _ in kinds.randomElement(using: &self) ?? "" }.joined(separator: "\n")
    }
}
