import Testing

@testable import TerminalKit

@Suite struct InputDecoderTests {
    private func events(_ script: String, of decoder: InputDecoder = InputDecoder()) -> String {
        describe(InputScript(script).events(of: decoder))
    }

    // MARK: Time

    @Test("8: a lone Escape is a key after 50 ms, and the rest of an arrow that comes before is one with it")
    func loneEscape() {
        var decoder = InputDecoder()
        #expect(decoder.patience == nil)
        #expect(decoder.receive(0x1B).isEmpty)
        #expect(decoder.patience == .milliseconds(50))
        #expect(describe(decoder.stopWaiting()) == "Escape")
        #expect(decoder.patience == nil)
        #expect(decoder.receive(0x1B).isEmpty)
        #expect(describe(decoder.receive("[A".utf8, after: .milliseconds(30))) == "Up")
    }

    @Test(
        "9: an introducer waits 500 ms for the rest, and is a key with Alt after that",
        arguments: [("[", "A", "Up", "Alt-[, A"), ("O", "A", "Up", "Alt-O, A"), ("[1;", "5A", "Ctrl-Up", "5, A")])
    func introducer(start: String, rest: String, quick: String, slow: String) {
        var decoder = InputDecoder()
        #expect(decoder.receive("\u{1B}\(start)".utf8).isEmpty)
        #expect(decoder.patience == .milliseconds(500))
        var late = decoder
        #expect(describe(decoder.receive(rest.utf8, after: .milliseconds(400))) == quick)
        #expect(decoder.patience == nil)
        #expect(describe(late.stopWaiting() + late.receive(rest.utf8)) == slow)
    }

    @Test("9: the introducers of strings wait 500 ms too", arguments: ["]", "P", "_"])
    func stringIntroducer(start: String) {
        var decoder = InputDecoder()
        #expect(decoder.receive("\u{1B}\(start)".utf8).isEmpty)
        #expect(decoder.patience == .milliseconds(500))
        #expect(describe(decoder.stopWaiting()) == "Alt-\(start)")
    }

    @Test("10: with flag 1 of the kitty protocol Escape is a key at once, and no timer is armed")
    func reportedEscape() {
        var decoder = InputDecoder()
        decoder.reportsEscape = true
        for byte in "\u{1B}[27".utf8 {
            #expect(decoder.receive(byte).isEmpty)
            #expect(decoder.patience == nil)
        }
        #expect(describe(decoder.receive(UInt8(ascii: "u"))) == "Escape")
        #expect(decoder.receive("\u{1B}O".utf8).isEmpty && decoder.patience == nil)
    }

    @Test("Text that is cut in the middle of a character arms no timer")
    func cutCharacter() {
        var decoder = InputDecoder()
        #expect(decoder.receive([0xE6, 0xBC]).isEmpty)
        #expect(decoder.patience == nil)
        #expect(describe(decoder.receive(0xA2)) == "漢")
    }

    @Test(
        "21: 64 KB of a string without an end are swallowed, and keys live after a second", arguments: ["]", "P", "_"])
    func endlessString(start: String) {
        var decoder = InputDecoder()
        let bytes = Array("\u{1B}\(start)".utf8) + Array(repeating: UInt8(ascii: "x"), count: 64 << 10)
        #expect(decoder.receive(bytes).isEmpty)
        #expect(decoder.patience == .seconds(1))
        #expect(decoder.pendingByteCount <= InputDecoder.stringLimit)
        #expect(decoder.stopWaiting().isEmpty)
        #expect(describe(decoder.receive("a".utf8)) == "a")
    }

    @Test("21: a string without an end is given up after a second, even if keys are typed all the time")
    func typingIntoString() {
        var decoder = InputDecoder()
        #expect(decoder.receive("\u{1B}]0;title".utf8).isEmpty)
        for _ in 0..<4 {
            #expect(decoder.receive("k".utf8, after: .milliseconds(200)).isEmpty)
        }
        #expect(decoder.patience == .milliseconds(200))
        // This process stood still, so that the bytes waited and not the decoder.
        #expect(decoder.receive("k".utf8, after: .seconds(10)).isEmpty)
        #expect(decoder.patience == .milliseconds(200))
        #expect(decoder.stopWaiting().isEmpty && describe(decoder.receive("k".utf8)) == "k")
    }

    @Test("21: of an endless string no more than 64 KB are kept, and the answer is dropped")
    func longString() {
        var decoder = InputDecoder()
        let piece = Array(repeating: UInt8(ascii: "A"), count: 4_095)
        #expect(decoder.receive("\u{1B}P>|".utf8).isEmpty)
        for _ in 0..<100 { #expect(decoder.receive(piece).isEmpty) }
        #expect(decoder.pendingByteCount <= InputDecoder.stringLimit)
        #expect(describe(decoder.receive("\u{07}x".utf8)) == "x")
    }

    // MARK: Keys

    @Test("12: the release of a key does nothing", arguments: [#"\e[97;1:3u"#, #"\e[1;1:3A"#, #"\e[3;5:3~"#])
    func release(script: String) {
        #expect(events(script) == "")
        #expect(keys(InputScript(script).parts[0]) == [])
    }

    @Test(
        "13: Shift makes the character, an input method types, and the locks are no modifiers",
        arguments: [
            (#"\e[97:65;2u"#, "A"), (#"\e[0;;26085u"#, "日"), (#"\e[0;;26085:26412u"#, "日本"), (#"\e[97;65u"#, "a"),
            (#"\e[97;193u"#, "a"), (#"\e[97;66u"#, "A"),
        ])
    func typedText(script: String, text: String) {
        var editor = ComposerEditor()
        for key in keys(InputScript(script).parts[0]) { _ = editor.receive(key) }
        #expect(editor.text == text)
    }

    @Test(
        "14: Shift-Enter in its four forms makes a new line, and so do Alt-Enter and Ctrl-J; Return alone sends",
        arguments: [
            (#"\e[13;2u"#, false), (#"\e[27;2;13~"#, false), (#"\e[57414;2u"#, false), (#"\e[57345;2u"#, false),
            (#"\e\r"#, false), (#"\n"#, false), (#"\e[106;5u"#, false), (#"\e\n"#, false), (#"\r"#, true),
            (#"\e[13u"#, true), (#"\eOM"#, true),
        ])
    func newLine(script: String, sends: Bool) {
        var editor = ComposerEditor()
        var steps: [ComposerEditor.Step] = []
        for key in keys(Array("a".utf8) + InputScript(script).parts[0]) { steps.append(editor.receive(key)) }
        #expect(editor.text == (sends ? "a" : "a\n"))
        #expect(steps == [.unfinished, sends ? .submitted : .unfinished])
    }

    @Test("Backspace is what the settings of the terminal say, besides the two bytes that terminals send")
    func erase() {
        #expect(events(#"\x7F\x08\x1F"#, of: InputDecoder(erase: 0x1F)) == "Backspace, Backspace, Backspace")
        #expect(events(#"\x00\e"#, of: InputDecoder(erase: 0)) == "Ctrl-Space")
        #expect(events("#", of: InputDecoder(erase: UInt8(ascii: "#"))) == "#")
        #expect(events(#"\x03\r"#, of: InputDecoder(erase: 0x03)) == "Ctrl-c, Enter")
    }

    @Test("A report of the cursor is one only before a fence, and a key after it")
    func cursorReport() {
        var decoder = InputDecoder()
        #expect(describe(decoder.receive("\u{1B}[1;2R".utf8)) == "Shift-F3")
        decoder.isFenceOpen = true
        let answer = decoder.receive("\u{1B}[12;40R\u{1B}[1;2R\u{1B}[?6c\u{1B}[1;2R\u{1B}[12;40R".utf8)
        #expect(describe(answer) == "cursor at 12;40, cursor at 1;2, attributes [6], Shift-F3")
        #expect(!decoder.isFenceOpen)
    }

    // MARK: Mouse

    @Test("15: the mouse is reported at any place", arguments: [1, 223, 224, 300, 9_999])
    func mousePlaces(place: Int) {
        #expect(events(#"\e[<0;\#(place);\#(place)M"#) == "press left at \(place);\(place)")
        #expect(events(#"\e[<0;\#(place);1m"#) == "release left at \(place);1")
    }

    @Test("15: the wheel turns in four directions", arguments: zip(64...67, ["up", "down", "left", "right"]))
    func wheel(code: Int, direction: String) {
        #expect(events(#"\e[<\#(code);5;6M"#) == "scroll \(direction) at 5;6")
        #expect(events(#"\e[<\#(code + 16);5;6M"#) == "Ctrl-scroll \(direction) at 5;6")
    }

    @Test("15: a report that is cut in two types nothing, however late the rest is")
    func cutMouse() {
        let report = Array("\u{1B}[<35;150;7M".utf8)
        for place in 1..<report.count {
            var decoder = InputDecoder()
            var events = decoder.receive(report[..<place])
            var patient = decoder
            #expect(describe(patient.receive(report[place...])) == "motion none at 150;7", "cut at \(place)")
            events += decoder.stopWaiting() + decoder.receive(report[place...])
            // What was received until then may have been a key.
            #expect(describe(events) == (place == 1 ? "Escape" : place == 2 ? "Alt-[" : ""), "cut at \(place)")
            #expect(describe(decoder.receive("x".utf8)) == "x")
            #expect(keys(Array("a".utf8)).count == 1)
        }
    }

    @Test("What only looks like the rest of a report is typed soon, and nothing waits before it")
    func noReport() {
        var decoder = InputDecoder()
        #expect(describe(decoder.receive(0x1B) + decoder.stopWaiting()) == "Escape")
        #expect(decoder.patience == nil)
        #expect(decoder.receive(UInt8(ascii: "[")).isEmpty && decoder.patience == .milliseconds(50))
        #expect(describe(decoder.stopWaiting()) == "[")
        #expect(describe(decoder.receive("[<3".utf8)) == "[, <, 3")
    }

    @Test(
        "16: reports of the old forms, for which nobody asked, are swallowed",
        arguments: [#"\e[M !!"#, #"\e[M#\x21\xFF"#, #"\e[M\x60\x00\x00"#, #"\e[32;5;5M"#, #"\e[96;300;400M"#])
    func oldMouse(script: String) {
        #expect(events(script) == "")
        #expect(events(script + "x") == "x")
    }
}
