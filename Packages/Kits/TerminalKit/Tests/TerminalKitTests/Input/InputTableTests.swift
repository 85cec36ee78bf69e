import Testing

@testable import TerminalKit

/// The golden table of what each input means. `\.` is the end of the patience.
enum InputTable {
    static let rows: [(input: String, events: String)] =
        text + control + escape + legacy + kitty + other + mouse + replies
        + pastes + cut

    private static let text: [(String, String)] = [
        ("ab", "a, b"), ("é漢👍", "é, 漢, 👍"), (#"\xFF"#, "�"), (#"\xC3a"#, "�, a"), (#"\xE6\xBC\r"#, "�, Enter"),
        (#"\xF0\x9F\x91"#, ""), (#"\xF0\x9F\x91\xC3\xA9"#, "�, é"), (#"\xC2\x9B"#, "�"), (#"\xE2\x80\xAE"#, "�"),
        (#"\x9BA"#, "�, A"), (#"\xC3\."#, "�"), (" ", "Space"),
    ]

    private static let control: [(String, String)] = [
        (#"\r"#, "Enter"), (#"\n"#, "Ctrl-j"), (#"\t"#, "Tab"), (#"\x00"#, "Ctrl-Space"),
        (#"\x7F\x08"#, "Backspace, Backspace"),
        (#"\x01\x03\x1A"#, "Ctrl-a, Ctrl-c, Ctrl-z"), (#"\x1C\x1D\x1E\x1F"#, #"Ctrl-\, Ctrl-], Ctrl-^, Ctrl-_"#),
    ]

    private static let escape: [(String, String)] = [
        (#"\e\."#, "Escape"), (#"\e\.a"#, "Escape, a"), (#"\ea"#, "Alt-a"), (#"\eA"#, "Alt-A"), (#"\eé"#, "Alt-é"),
        (#"\e\r"#, "Alt-Enter"), (#"\e\n"#, "Alt-Ctrl-j"), (#"\e\x7F"#, "Alt-Backspace"), (#"\e\x01"#, "Alt-Ctrl-a"),
        (#"\e\t"#, "Alt-Tab"), (#"\e\e\."#, "Escape, Escape"), (#"\e\e\e\."#, "Escape, Escape, Escape"),
        (#"\e\ea"#, "Escape, Alt-a"), (#"\e\e[A"#, "Alt-Up"), (#"\e\eOA"#, "Alt-Up"), (#"\e\e[1;5A"#, "Alt-Ctrl-Up"),
        (#"\e\e[?6c"#, "Escape, attributes [6]"),
        (#"\e\e]11;rgb:f/f/f\x07"#, "Escape, color background 65535/65535/65535"),
        (#"\e[\."#, "Alt-["), (#"\e[\.A"#, "Alt-[, A"), (#"\eO\.A"#, "Alt-O, A"), (#"\e]\.x"#, "Alt-], x"),
        (#"\eP\.x"#, "Alt-P, x"), (#"\e_\.x"#, "Alt-_, x"), (#"\eX\e^"#, "Alt-X, Alt-^"),
        (#"\e[\x03"#, "Alt-[, Ctrl-c"),
        (#"\e[1;2\r"#, "Enter"), (#"\e[1;2\e[B"#, "Down"), (#"\e[1;é"#, "é"), (#"\e\e[\."#, "Escape, Alt-["),
        (#"\eO\e[A"#, "Alt-O, Up"), (#"\eO5\."#, "Alt-O, 5"), (#"\e[1;\."#, ""), (#"\e[[\."#, "Alt-[, ["),
    ]

    private static let legacy: [(String, String)] = [
        (#"\e[A\e[B\e[C\e[D\e[H\e[F"#, "Up, Down, Right, Left, Home, End"),
        (#"\eOA\eOB\eOC\eOD\eOH\eOF"#, "Up, Down, Right, Left, Home, End"),
        (#"\eOP\eOQ\eOR\eOS"#, "F1, F2, F3, F4"), (#"\e[P\e[Q\e[R\e[S"#, "F1, F2, F3, F4"),
        (#"\e[1~\e[2~\e[3~\e[4~\e[5~\e[6~\e[7~\e[8~"#, "Home, Insert, Delete, End, PageUp, PageDown, Home, End"),
        (#"\e[11~\e[12~\e[13~\e[14~\e[15~\e[17~\e[18~\e[19~"#, "F1, F2, F3, F4, F5, F6, F7, F8"),
        (#"\e[20~\e[21~\e[23~\e[24~\e[25~\e[26~\e[28~\e[29~"#, "F9, F10, F11, F12, F13, F14, F15, F16"),
        (#"\e[31~\e[32~\e[33~\e[34~\e[99~"#, "F17, F18, F19, F20"),
        (#"\e[[A\e[[B\e[[C\e[[D\e[[E"#, "F1, F2, F3, F4, F5"), (#"\e[[Fx"#, "x"),
        (#"\e[1;2A\e[1;3A\e[1;5A\e[1;9A\e[1;17A\e[1;33A"#, "Shift-Up, Alt-Up, Ctrl-Up, Super-Up, Hyper-Up, Meta-Up"),
        (#"\e[1;8D"#, "Alt-Ctrl-Shift-Left"), (#"\e[1;65A\e[1;129A\e[1;194A"#, "Up, Up, Shift-Up"),
        (#"\e[3;5~\e[15;2~\e[5;3~"#, "Ctrl-Delete, Shift-F5, Alt-PageUp"), (#"\e[Z"#, "Shift-Tab"),
        (#"\e[1;2P\e[1;2R"#, "Shift-F1, Shift-F3"), (#"\e[3;4R"#, ""), (#"\eO5A\eO1;2P"#, "Ctrl-Up, Shift-F1"),
        (#"\eOM\eOp\eOy\eOk\eOz"#, "Enter, 0, 9, +"), (#"\e[99;99x\e[?1;2;3z\e[>41;2c\e[=0c\e[0n"#, ""),
    ]

    private static let kitty: [(String, String)] = [
        (#"\e[27u"#, "Escape"), (#"\e[13u\e[9u\e[127u"#, "Enter, Tab, Backspace"), (#"\e[13;2u"#, "Shift-Enter"),
        (#"\e[9;2u"#, "Shift-Tab"), (#"\e[97u"#, "a"), (#"\e[97;5u"#, "Ctrl-a"), (#"\e[97;6u"#, "Ctrl-A"),
        (#"\e[97:65;2u\e[97;2u\e[65;2u"#, "A, A, A"), (#"\e[97:65:97;2u"#, "A"), (#"\e[97::99;5u"#, "Ctrl-a"),
        (#"\e[49:33;2u"#, "!"), (#"\e[49;2u"#, "Shift-1"), (#"\e[32;2u\e[32;5u"#, "Shift-Space, Ctrl-Space"),
        (#"\e[228:196;4u"#, "Alt-Ä"), (#"\e[97;1:1u\e[97;1:2u\e[97;1:3u"#, "a, a"),
        (#"\e[1;1:3A\e[1;1:2A\e[3;5:3~"#, "Up"),
        (#"\e[97;;97u"#, "a"), (#"\e[97;65u\e[97;129u\e[97;69u"#, "a, a, Ctrl-a"), (#"\e[97;65;65u"#, "A"),
        (#"\e[0;;26085u"#, "日"), (#"\e[0;;26085:26412:35486u"#, #"text "日本語""#), (#"\e[97;2;65u"#, "A"),
        (#"\e[101;;101:769u"#, "text \"e\u{301}\""), (#"\e[0;;27:155:8238u"#, ""),
        (#"\e[0;;104:27:105u"#, #"text "hi""#),
        (#"\e[0u\e[u"#, ""), (#"\e[106;5u"#, "Ctrl-j"), (#"\e[3u"#, "Ctrl-c"),
        (#"\e[57344u\e[57345u\e[57352;5u\e[57357u"#, "Escape, Enter, Ctrl-Up, End"),
        (#"\e[57363u\e[57364u\e[57375u\e[57398u"#, "Menu, F1, F12, F35"),
        (#"\e[57399u\e[57408u\e[57413u\e[57414u\e[57417u\e[57426u"#, "0, 9, +, Enter, Left, Delete"),
        (#"\e[57358u\e[57441u\e[57428u\e[63743u\e[57399;;48u"#, "0"), (#"\e[1114112u\e[55296u\e[155u"#, ""),
        (#"\e[99999999999999999999;99999999999999999999u"#, ""),
    ]

    private static let other: [(String, String)] = [
        (#"\e[27;2;13~\e[27;5;13~"#, "Shift-Enter, Ctrl-Enter"), (#"\e[27;5;97~\e[27;6;65~"#, "Ctrl-a, Ctrl-A"),
        (#"\e[27;2;33~\e[27;2;32~"#, "!, Shift-Space"),
        (#"\e[27;5;9~\e[27;5;8~\e[27;3;27~"#, "Ctrl-Tab, Ctrl-Backspace, Alt-Escape"),
        (#"\e[27;4;65~"#, "Alt-A"), (#"\e[27;5;106~"#, "Ctrl-j"), (#"\e[27;5~"#, ""),
        (#"\e[I\e[O"#, "focus, no focus"), (#"\e[5I"#, ""),
    ]

    private static let mouse: [(String, String)] = [
        (#"\e[<0;1;2M\e[<0;1;2m"#, "press left at 1;2, release left at 1;2"),
        (#"\e[<1;9;9M\e[<2;9;9M"#, "press middle at 9;9, press right at 9;9"),
        (#"\e[<32;3;4M\e[<35;3;4M"#, "drag left at 3;4, motion none at 3;4"),
        (#"\e[<64;1;1M\e[<65;1;1M"#, "scroll up at 1;1, scroll down at 1;1"),
        (#"\e[<66;1;1M\e[<67;1;1M"#, "scroll left at 1;1, scroll right at 1;1"),
        (#"\e[<64;1;1m"#, ""), (#"\e[<128;1;1M\e[<131;1;1M"#, "press extra(8) at 1;1, press extra(11) at 1;1"),
        (#"\e[<4;1;1M\e[<8;1;1M\e[<16;1;1M"#, "Shift-press left at 1;1, Alt-press left at 1;1, Ctrl-press left at 1;1"),
        (#"\e[<28;1;1M"#, "Alt-Ctrl-Shift-press left at 1;1"), (#"\e[<0;0;1M\e[<0;1M\e[<300;1;1M\e[<0;1;1;1M"#, ""),
        (#"\e[M !!x"#, "x"), (#"\e[M\x20\x00\xFFx"#, "x"), (#"\e[M\e[A"#, "Up"), (#"\e[M \x03"#, "Ctrl-c"),
        (#"\e[32;5;5Mx"#, "x"), (#"\e[M!\.x"#, "x"),
    ]

    private static let replies: [(String, String)] = [
        (#"\e[?62;22c"#, "attributes [62, 22]"), (#"\e[?6c"#, "attributes [6]"), (#"\e[c"#, ""),
        (#"\e[?2026;2$y"#, "mode 2026 is 2"), (#"\e[4;2$y\e[?2026$p"#, ""),
        (#"\e[?1u\e[?0u"#, "keyboard flags 1, keyboard flags 0"),
        (#"\e[48;24;80;480;800t"#, "size 80x24 800x480"), (#"\e[8;24;80t\e[48t"#, ""),
        (#"\e[?997;1n\e[?997;2n\e[?997;3n"#, "theme dark, theme light"),
        (#"\e]11;rgb:ffff/8080/0000\e\"#, "color background 65535/32896/0"),
        (#"\e]10;rgb:f/8/0\x07"#, "color foreground 65535/34952/0"),
        (#"\e]4;9;rgb:ff/00/80\x07"#, "color palette(9) 65535/0/32896"),
        (#"\e]12;rgba:fff/800/000/fff\x9C"#, "color cursor 65535/32775/0"),
        (#"\e]52;c;aGkh\x07x"#, "x"), (#"\e]11;#ffffff\x07x"#, "x"),
        (#"\e]4;999;rgb:f/f/f\x07\e]11;rgb:+f/f/f\x07\e]0;title\x07"#, ""),
        (#"\eP>|tmux 3.5a\e\\x"#, "name tmux 3.5a, x"), (#"\eP1$r0m\e\\x"#, "x"),
        (#"\e_Gi=31;OK\e\"#, "graphics i=31;OK"),
        (#"\e_x\e\\y"#, "y"), (#"\e]11;rgb:f\x18x"#, "x"), (#"\e]11;rgb:f\x1Ax"#, "x"), (#"\e]11;rgb:f\e[A"#, "Up"),
        (#"\e]11;rgb:f\ex"#, "Alt-x"), (#"\e]0;\xE2\x9C\x9C\x07x"#, "x"), (#"\e]0;a\x03"#, "Ctrl-c"),
        (#"\e]0;a\.x"#, "x"), (#"\e]0;a\e\.x"#, "x"), (#"\e]\e\."#, "Alt-], Escape"),
    ]

    private static let pastes: [(String, String)] = [
        (#"\e[200~one\r\ntwo\rthree\nfour\e[201~x"#, #"paste "one\ntwo\nthree\nfour", x"#),
        (#"\e[200~\e[201~\."#, #"paste """#), (#"\e[200~a\tb\r\e[201~\."#, #"paste "a\tb\n""#), (#"\e[201~x"#, "x"),
        (#"\e[200~\r\r\n\n\e[201~\."#, #"paste "\n\n\n""#), (#"\e[200~é\xFF\xC3\e[201~\."#, #"paste "é��""#),
        (#"\e[200~\e[2J\e]0;t\x07\x00\e[201~\."#, #"paste "␛[2J␛]0;t␇␀""#),
        (#"\e[200~a\xC2\x9Bb\xE2\x80\xAEc\e[201~\."#, #"paste "a�b‹U+202E›c""#),
        (#"\e[200~\e[I\e[O\e[<35;1;2Mx\e[<0;1;2m\e[201~\."#, #"paste "x""#),
        (#"\e[200~\e[97u\e[97:65;2u\e[106;5u\e[27;5;106~\e[13u\e[9u\e[97;1:3u\e[201~\."#, #"paste "aA\n\n\n\t""#),
        (#"\e[200~\e[0;;26085:26412u\e[127u\e[57352u\e[201~\."#, #"paste "日本␡␛[57352u""#),
        (#"\e[200~\e[200~\e[20\e[201~\."#, #"paste "␛[200~␛[20""#), (#"\e[200~\e\e[201~\."#, #"paste "␛""#),
        (#"\e[200~half\."#, #"paste "half" cut"#), (#"\e[200~half\e[20\.x"#, #"paste "half␛[20" cut, x"#),
        (#"\e[200~a\x03b\x03\x03\."#, #"paste "a␃b" cut, Ctrl-c"#), (#"\e[200~a\x03\e[201~\."#, #"paste "a␃""#),
        (#"\e[200~a\x03\."#, #"paste "a␃" cut"#), (#"\e[200~a\x03\x03b\r\."#, #"paste "a␃␃b\n" cut"#),
    ]

    private static let cut: [(String, String)] = [
        (#"\e\.[<35;150;7M"#, "Escape"), (#"\e[\.<35;150;7Mx"#, "Alt-[, x"), (#"\e[<35\.;150;7Mx"#, "x"),
        (#"\e[<\.35;150;7mx"#, "x"), (#"\e[<35;150;7\.Mx"#, "x"), (#"\e[<35\.;150\.;7Mx"#, ";, 7, M, x"),
        (#"\e\.[\."#, "Escape, ["), (#"\e\.[A"#, "Escape, [, A"), (#"\e[<35\.x"#, "x"), (#"\e[<35\.é"#, "é"),
        (#"\e\.[<\ea"#, "Escape, [, <, Alt-a"), (#"\e\.a[<"#, "Escape, a, [, <"),
    ]
}

@Suite struct InputTableTests {
    @Test("11: every row of the table has its events, at once and cut at every byte", arguments: InputTable.rows)
    func rows(input: String, expected: String) {
        let script = InputScript(input)
        #expect(describe(script.events()) == expected)
        #expect(describe(script.events { part in part.indices.map { part[$0...$0] } }) == expected)
        for place in 1..<max(2, script.parts.map(\.count).max() ?? 0) {
            let events = script.events { [$0[..<min(place, $0.count)], $0[min(place, $0.count)...]] }
            #expect(describe(events) == expected, "cut at \(place)")
        }
    }

    @Test("Nothing is pending after a row, and a letter is a letter", arguments: InputTable.rows)
    func endsAtGround(input: String, expected: String) {
        var decoder = InputDecoder()
        for part in InputScript(input).parts { _ = decoder.receive(part) + decoder.stopWaiting() }
        #expect(decoder.patience == nil)
        #expect(describe(decoder.receive(UInt8(ascii: "x"))) == "x")
    }
}
