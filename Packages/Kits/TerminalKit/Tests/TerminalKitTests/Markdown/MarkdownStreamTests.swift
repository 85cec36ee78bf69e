import Capabilities
import CoreTesting
import Testing

@testable import TerminalKit

@Suite struct MarkdownStreamTests {
    @Test("A stream split anywhere gives the same result as the whole")
    func everyCut() {
        let whole = Markdown.render(everyBlock, width: 40, level: .truecolor, links: true)
        let bytes = Array(everyBlock.utf8)
        for cut in 0...bytes.count {
            #expect(streamed([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "cut at \(cut)")
        }
        #expect(streamed(bytes.map { [$0] }) == whole)
    }

    @Test("Blocks in any order give the same in pieces of any size", arguments: UInt64(1)...60)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let text = random.markdown(lines: 30)
        var rest = Array(text.utf8)[...]
        var pieces: [[UInt8]] = []
        while !rest.isEmpty {
            let size = Int.random(in: 1...30, using: &random)
            pieces.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        #expect(streamed(pieces) == Markdown.render(text, width: 40, level: .truecolor, links: true), "seed \(seed)")
    }

    @Test("A block is final as soon as the next one begins, and its lines are never emitted again")
    func finality() {
        var stream = MarkdownStream(width: 40, level: .none)
        #expect(stream.append("one\n").isEmpty)
        #expect(stream.append("\n").isEmpty)
        #expect(stream.append("tw").isEmpty)
        #expect(stream.append("o\n").map(\.plainText) == ["one"])
        #expect(stream.append("# three\n- a\n").map(\.plainText) == ["", "two", "", "# three"])
        #expect(stream.append("\n- b\n\n```\nx\n\n- c\n").map(\.plainText) == ["", "• a", "", "• b"])
        #expect(stream.append("```\n").isEmpty)
        #expect(stream.finish().map(\.plainText) == ["", "  x", "", "  - c"])
        #expect(stream.finish().isEmpty)
    }

    @Test("The tail is the open block, as far as it is known")
    func tail() {
        var stream = MarkdownStream(width: 20, level: .none)
        #expect(stream.tail().isEmpty)
        _ = stream.append("a **bo")
        #expect(stream.tail().map(\.plainText) == ["a **bo"])
        _ = stream.append("ld** b\n\nnext")
        #expect(stream.tail().map(\.plainText) == ["a **bold** b", "", "next"])
        #expect(stream.append("\n").map(\.plainText) == ["a **bold** b"])
        #expect(stream.tail().map(\.plainText) == ["", "next"])
        #expect(stream.finish().map(\.plainText) == ["", "next"])
    }

    @Test("Final lines and the tail always match the text so far")
    func tailIsWhole() {
        var stream = MarkdownStream(width: 40, level: .none)
        var final: [StyledText] = []
        var soFar: [UInt8] = []
        for byte in Array(everyBlock.utf8) {
            final += stream.append([byte])
            soFar.append(byte)
            guard let text = String(validating: soFar, as: UTF8.self) else { continue }
            let lines = (final + stream.tail()).map(\.plainText)
            #expect(lines.joined(separator: "\n") == drawn(text, 40).joined(separator: "\n"))
        }
    }

    @Test("Code is plain while it is open, and coloured once it is closed")
    func openCode() {
        var stream = MarkdownStream(width: 40, level: .truecolor)
        _ = stream.append("```swift\nlet x = 1\n")
        #expect(
            stream.tail().map { $0.runs.map(\.style.token) } == [[nil, .mutedForeground], [nil, .cardForeground]])
        _ = stream.append("```\n")
        #expect(stream.tail()[1].runs.contains { $0.style == CodeToken.keyword.style })
    }

    @Test("A definition applies to the text after it, and is shown")
    func definitions() {
        var stream = MarkdownStream(width: 80, level: .none)
        var lines = stream.append("[a][x]\n\n[x]: https://a.example\n\n[b][x] ")
        lines += stream.append("end\n")
        lines += stream.finish()
        #expect(lines.map(\.plainText) == ["[a][x]", "", "[x]: https://a.example", "", "b (https://a.example) end"])
    }

    @Test("A new width applies to lines that were not emitted yet")
    func resize() {
        var stream = MarkdownStream(width: 40, level: .none)
        let first = stream.append("one two three four\n\none two three four\n")
        stream.width = 10
        #expect(first.map(\.plainText) == ["one two three four"])
        #expect(stream.tail().map(\.plainText) == ["", "one two", "three four"])
    }
}
