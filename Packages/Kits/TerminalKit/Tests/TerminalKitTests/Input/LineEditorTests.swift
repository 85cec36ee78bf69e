import Testing

@testable import TerminalKit

@Suite struct LineEditorTests {
    @Test(
        "Keys change the line as a terminal does",
        arguments: [
            ("abc", "abc"), ("abc\u{7F}", "ab"), ("abc\u{08}\u{08}", "a"), ("\u{7F}a", "a"), ("abc\u{15}d", "d"),
            ("é\u{7F}", ""),
            ("e\u{301}\u{7F}", ""), ("a👨‍👩‍👧‍👦\u{7F}", "a"), ("a\u{1B}[Db", "ab"), ("a\u{1B}[1;5Cb", "ab"),
            ("a\u{1B}OPb", "ab"), ("a\u{1B}xb", "ab"),
            ("a\u{01}\u{00}b", "ab"), ("a\tb", "a\tb"), ("a\u{04}", "a"),
        ])
    func visibleKeys(typed: String, expected: String) {
        var editor = LineEditor(isSecret: false)
        for byte in typed.utf8 { #expect(editor.receive(byte) == .unfinished) }
        #expect(String(decoding: editor.bytes, as: UTF8.self) == expected)
    }

    @Test("A lone Escape and a report without an end take no key after them")
    func incompleteKeys() {
        var editor = LineEditor(isSecret: false)
        for (typed, patience) in [("a\u{1B}", Duration.milliseconds(50)), ("b\u{1B}]11;rgb:", .seconds(1))] {
            for byte in typed.utf8 { #expect(editor.receive(byte) == .unfinished) }
            #expect(editor.patience == patience)
            #expect(editor.stopWaiting() == .unfinished && editor.patience == nil)
        }
        for byte in "c".utf8 { _ = editor.receive(byte) }
        #expect(String(decoding: editor.bytes, as: UTF8.self) == "abc")
    }

    @Test(
        "Pastes and reported keys are typed, and a secret keeps bytes of any encoding",
        arguments: [
            (Array("\u{1B}[200~to\u{FFFD}ken\u{1B}[201~".utf8), Array("to\u{FFFD}ken".utf8)),
            (Array("\u{1B}[97u\u{1B}[97:65;2u\u{1B}[97;1:3u\u{1B}[0;;26085:26412u".utf8), Array("aA日本".utf8)),
            ([0x61, 0xFF, 0xE9, 0xC3, 0x62], [0x61, 0xFF, 0xE9, 0xC3, 0x62]),
        ] as [([UInt8], [UInt8])])
    func typedBytes(bytes: [UInt8], expected: [UInt8]) {
        var editor = LineEditor(isSecret: true)
        for byte in bytes { #expect(editor.receive(byte) == .unfinished) }
        #expect(editor.bytes == expected)
    }

    @Test("Backspace in a secret removes a whole character")
    func secretBackspace() {
        var editor = LineEditor(isSecret: true)
        for byte in "aé\u{7F}漢\u{7F}b".utf8 { _ = editor.receive(byte) }
        #expect(editor.bytes == Array("ab".utf8))
    }

    @Test(
        "Keys end the line",
        arguments: [
            ("a\n", LineEditor.Step.finished), ("a\r", .finished), ("a\u{03}", .interrupted), ("\u{04}", .end),
            ("\u{1B}\u{03}", .interrupted),
            ("\u{1B}[\n", .finished), ("a\u{1B}]\n", .finished), ("a\u{1B}]b\r", .finished),
            ("\u{1B}P\n", .finished), ("\u{1B}_\u{1B}\r", .finished),
        ])
    func ends(typed: String, step: LineEditor.Step) throws {
        var editor = LineEditor(isSecret: false)
        for byte in typed.utf8.dropLast() { #expect(editor.receive(byte) == .unfinished) }
        #expect(editor.receive(try #require(typed.utf8.last)) == step)
    }

    @Test("A string without an end takes no key after a second, even if keys are typed all the time")
    func stringWithoutEnd() {
        var editor = LineEditor(isSecret: false)
        for byte in "a\u{1B}]b".utf8 { #expect(editor.receive(byte, after: .milliseconds(200)) == .unfinished) }
        for _ in 0..<3 { #expect(editor.receive(0x63, after: .milliseconds(250)) == .unfinished) }
        #expect(editor.patience == .milliseconds(50))
        #expect(editor.stopWaiting() == .unfinished)
        #expect(editor.receive(0x64) == .unfinished)
        #expect(editor.bytes == Array("ad".utf8))
    }

    @Test("A line has a limit")
    func limit() {
        var editor = LineEditor(isSecret: true)
        for _ in 0..<LineEditor.limit { #expect(editor.receive(0x61) == .unfinished) }
        #expect(editor.receive(0x61) == .tooLong)
    }

    @Test("The end of a long line is shown, and nothing in it controls the terminal", arguments: 1...30)
    func tail(width: Int) {
        var editor = LineEditor(isSecret: false)
        for byte in "start 漢字漢字 \u{9B} 👨‍👩‍👧‍👦 end".utf8 { _ = editor.receive(byte) }
        let tail = editor.visibleTail(width: width)
        #expect(TextWidth.of(tail) <= width)
        #expect("start 漢字漢字 \u{FFFD} 👨‍👩‍👧‍👦 end".hasSuffix(tail))
    }
}
