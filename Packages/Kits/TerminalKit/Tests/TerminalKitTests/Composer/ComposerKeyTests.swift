import CoreTesting
import Testing

@testable import TerminalKit

@Suite struct ComposerKeyTests {
    @Test(
        "Bytes are decoded to keys",
        arguments: [
            ("\r", [.submit]), ("\n", [.newLine]), ("\u{1B}\r", [.newLine]), ("\u{1B}[13;2u", [.newLine]),
            ("\u{1B}[27;5;13~", [.newLine]), ("\u{1B}[A", [.up]), ("\u{1B}OB", [.down]),
            ("\u{1B}[1;5C", [.wordRight]),
            ("\u{1B}[1;3D", [.wordLeft]), ("\u{1B}b", [.wordLeft]), ("\u{1B}[H", [.lineStart]),
            ("\u{1B}OF", [.lineEnd]),
            ("\u{1B}[4~", [.lineEnd]), ("\u{1B}[3~", [.deleteForward]), ("\u{1B}\u{7F}", [.deleteWordBackward]),
            ("\u{03}", [.interrupt]), ("\u{1B}\u{03}", [.escape, .interrupt]), ("\t", [.complete]),
            ("é漢", [.text("é"), .text("漢")]), ("\u{1B}[99;99x", []), ("\u{1B}]11;rgb:0/0/0\u{07}a", [.text("a")]),
            ("\u{1B}[\u{03}", [.interrupt]), ("\u{1B}[1;2\u{1B}[Ba", [.down, .text("a")]),
        ] as [(String, [ComposerKey])])
    func known(typed: String, expected: [ComposerKey]) {
        #expect(keys(typed) == expected)
    }

    @Test("Escape alone is a key if nothing follows, and a late key is separate")
    func escape() {
        var decoder = ComposerInput()
        #expect(decoder.receive(0x1B).isEmpty && decoder.patience == .milliseconds(50))
        #expect(decoder.stopWaiting() == [.escape])
        #expect(decoder.receive(UInt8(ascii: "b")) == [.text("b")])
        #expect(decoder.patience == nil && decoder.stopWaiting().isEmpty)
    }

    @Test(
        "A paste is one key with line feeds, and cannot control the editor",
        arguments: [
            ("one\rtwo\r\nthree\nfour", "one\ntwo\nthree\nfour"), ("\u{1B}[2Jgone\u{1B}]0;t\u{07}", "␛[2Jgone␛]0;t␇"),
            ("\u{03}\u{04}\u{7F}\u{9B}", "␃␄␡\u{FFFD}"), ("tab\tstays", "tab\tstays"), ("", ""),
            ("\u{1B}[201", "␛[201"),
        ])
    func paste(pasted: String, expected: String) {
        #expect(keys("\u{1B}[200~\(pasted)\u{1B}[201~x") == [.paste(expected), .text("x")])
    }

    @Test(
        "An incomplete sequence ends after a while, and the following key is separate",
        arguments: ["[", "O", "]", "[1;"])
    func cutSequence(rest: String) {
        var decoder = ComposerInput()
        for byte in "\u{1B}\(rest)".utf8 { #expect(decoder.receive(byte).isEmpty) }
        #expect(decoder.patience != nil)
        #expect(decoder.stopWaiting().isEmpty && decoder.patience == nil)
        #expect(decoder.receive(UInt8(ascii: "b")) == [.text("b")])
    }

    @Test("A paste without an end is ended after a while, and its text is kept")
    func cutPaste() {
        var decoder = ComposerInput()
        for byte in "\u{1B}[200~half a\rpaste".utf8 { #expect(decoder.receive(byte).isEmpty) }
        #expect(decoder.patience == .seconds(2))
        #expect(decoder.stopWaiting() == [.cutPaste("half a\npaste")])
        #expect(decoder.receive(0x03) == [.interrupt])
        var editor = ComposerEditor()
        #expect(editor.receive(.cutPaste("half a\npaste")) == .unfinished)
        #expect(editor.text == "half a\npaste")
        #expect(editor.hint == .message("the paste was cut off; this much arrived"))
    }

    @Test("Ctrl-C twice ends a paste without an end")
    func interruptedPaste() {
        var decoder = ComposerInput()
        for byte in "\u{1B}[200~half\u{03}a\u{03}\u{03}".utf8 { #expect(decoder.receive(byte).isEmpty) }
        #expect(decoder.patience == .milliseconds(20))
        #expect(decoder.stopWaiting() == [.cutPaste("half␃a"), .interrupt])
        #expect(decoder.receive(UInt8(ascii: "x")) == [.text("x")])
    }

    @Test("A paste that is too long is refused and not kept")
    func longPaste() throws {
        var decoder = ComposerInput()
        for byte in "\u{1B}[200~".utf8 { #expect(decoder.receive(byte).isEmpty) }
        for _ in 0..<Composer.limit * 5 { #expect(decoder.receive(0x61).isEmpty) }
        let end = "\u{1B}[201~".utf8.flatMap { decoder.receive($0) } + decoder.stopWaiting()
        guard case .paste(let text) = try #require(end.first) else { return #expect(Bool(false), "\(end)") }
        #expect(text.utf8.count > Composer.limit && text.utf8.count < 3 * Composer.limit)
        var editor = typed("kept").editor
        #expect(editor.receive(.paste(text)) == .unfinished)
        #expect(editor.text == "kept")
        #expect(editor.hint == .message("the limit is 256 KB; pass longer text as a file"))
    }

    @Test("No bytes break the decoder or the editor, and the text stays harmless")
    func random() {
        for seed in UInt64(1)...40 {
            var random = SeededGenerator(seed: seed)
            var decoder = ComposerInput()
            var editor = ComposerEditor(history: ["one", "two\nlines"], completions: ["/help", "/history"])
            let pieces: [[UInt8]] = [
                [0x1B], Array("\u{1B}[".utf8), Array("\u{1B}[200~".utf8), Array("\u{1B}[201~".utf8), [0x12], [0x09],
                Array("/h".utf8), Array("漢👨‍👩‍👧‍👦e\u{301}".utf8), [0x0A], [0x15], [0x17], [0x19],
            ]
            for _ in 0..<600 {
                var bytes = [UInt8.random(in: 0...255, using: &random)]
                if Bool.random(using: &random), let piece = pieces.randomElement(using: &random) { bytes = piece }
                for key in bytes.flatMap({ decoder.receive($0) }) { _ = editor.receive(key) }
                let size = TerminalSize(
                    columns: Int.random(in: 1...30, using: &random), rows: Int.random(in: 1...8, using: &random))
                let frame = ComposerFrame(editor, prompt: "you › ", size: size)
                #expect(frame.rows.count <= max(1, size.rows), "seed \(seed)")
                #expect(frame.rows.indices.contains(frame.cursor.row), "seed \(seed)")
            }
            #expect(Sanitizer.sanitize(editor.text) == editor.text, "seed \(seed)")
            #expect(editor.edited.byteCount == editor.text.utf8.count, "seed \(seed)")
        }
    }
}
