import Glibc
import Testing

@testable import TerminalKit

@Suite struct PasteTests {
    private static let start = Array("\u{1B}[200~".utf8)
    private static let end = Array("\u{1B}[201~".utf8)

    /// How long this thread has worked. Other tests may delay it, but not make it work.
    private static var processorTime: Duration {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private func pieces(of bytes: [UInt8], size: Int) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
    }

    @Test("17: a paste of a megabyte in reads of 4,095 bytes is one event, and the key after it is the next")
    func large() throws {
        let line = "漢字 and words, \u{1B}[31mred\u{1B}[0m\r\n"
        let text = String(repeating: line, count: 1_048_576 / line.utf8.count)
        var decoder = InputDecoder()
        var events: [InputEvent] = []
        let pieces = pieces(of: Self.start + Array(text.utf8) + Self.end + Array("k".utf8), size: 4_095)
        for piece in pieces.dropLast() { #expect(decoder.receive(piece).isEmpty) }
        // The paste is made ready while it arrives, so that its end costs little.
        let start = Self.processorTime
        events = decoder.receive(pieces.last ?? [])
        let cost = Self.processorTime - start
        #expect(events.count == 2 && events.last == .key(KeyPress(.character("k"))))
        guard case .paste(let paste) = try #require(events.first) else { return #expect(Bool(false), "\(events)") }
        #expect(!paste.isCut && paste.omittedBytes == 0)
        #expect(paste.text == text.replacing("\r\n", with: "\n").replacing("\u{1B}", with: "␛"))
        #expect(cost < .milliseconds(50), "\(cost)")
        #expect(decoder.pendingByteCount == 0 && decoder.patience == nil)
    }

    @Test("17: the composer shows it as one token")
    func token() {
        var editor = ComposerEditor()
        let text = Array(String(repeating: "a line\r", count: 30_000).utf8)
        for key in keys(Self.start + text + Self.end) { _ = editor.receive(key) }
        #expect(editor.edited.characters.count == 1)
        #expect(editor.edited.characters.first.flatMap(editor.edited.label) == "[Pasted text, 30,000 lines]")
    }

    @Test(
        "18: a paste is neutral text",
        arguments: [
            ("a\r\nb\rc\nd", "a\nb\nc\nd"), ("\ta\t", "\ta\t"), ("\u{00}\u{07}\u{7F}\u{9B}2J", "␀␇␡\u{FFFD}2J"),
            ("a\u{202E}b\u{2066}", "a‹U+202E›b‹U+2066›"),
            ("\u{1B}]52;c;aGk=\u{07}\u{1B}[?1049h", "␛]52;c;aGk=␇␛[?1049h"),
            ("\u{1B}[A\u{1B}OA\u{1B}[5~", "␛[A␛OA␛[5~"), ("\u{1B}]11;rgb:0/0/0\u{1B}\\", "␛]11;rgb:0/0/0␛\\"),
        ])
    func neutral(pasted: String, expected: String) {
        var decoder = InputDecoder()
        let bytes = Self.start + Array(pasted.utf8) + Self.end
        #expect(decoder.receive(bytes) + decoder.stopWaiting() == [.paste(Paste(text: expected))])
        #expect(bytes.flatMap { decoder.receive($0) } + decoder.stopWaiting() == [.paste(Paste(text: expected))])
    }

    @Test("18: an end mark within a paste, as old versions of tmux pass it, runs nothing")
    func innerEnd() {
        var decoder = InputDecoder()
        let bytes = Self.start + Array("x \u{1B}[201~ rm -rf /\r".utf8) + Self.end + Array("k".utf8)
        let key = InputEvent.key(KeyPress(.character("k")))
        #expect(decoder.receive(bytes) == [.paste(Paste(text: "x ␛[201~ rm -rf /\n")), key])
        // Another paste is another one.
        let two = Self.start + Array("a".utf8) + Self.end + Self.start + Array("b".utf8) + Self.end
        #expect(decoder.receive(two) + decoder.stopWaiting() == [.paste(Paste(text: "a")), .paste(Paste(text: "b"))])
        // An end mark alone types nothing.
        #expect(decoder.receive(Self.end + Array("k".utf8)) == [key])
    }

    @Test("18: an end mark at the end of a read is the end of the paste only if nothing follows soon")
    func innerEndAtCut() {
        var decoder = InputDecoder()
        let inner = Self.start + Array("x".utf8) + Self.end
        #expect(decoder.receive(inner).isEmpty)
        #expect(decoder.patience == .milliseconds(20))
        #expect(decoder.receive("rm -rf /\r".utf8 + Self.end).isEmpty)
        #expect(decoder.stopWaiting() == [.paste(Paste(text: "x␛[201~rm -rf /\n"))])
        // A key ends it too.
        #expect(decoder.receive(inner).isEmpty)
        #expect(describe(decoder.receive("k".utf8)) == #"paste "x", k"#)
        #expect(decoder.patience == nil)
    }

    @Test("Ctrl-C twice within what is pasted runs nothing")
    func innerInterrupts() {
        let paste = Paste(text: "harmless␃␃rm -rf x\n")
        let bytes = Self.start + Array("harmless\u{03}\u{03}rm -rf x\r".utf8) + Self.end
        for place in 1..<bytes.count {
            var decoder = InputDecoder()
            let events = decoder.receive(bytes[..<place]) + decoder.receive(bytes[place...])
            #expect(events.isEmpty && decoder.stopWaiting() == [.paste(paste)], "cut at \(place)")
        }
        var decoder = InputDecoder()
        #expect(decoder.receive(Self.start + Array("half\u{03}\u{03}".utf8)).isEmpty)
        #expect(describe(decoder.stopWaiting()) == #"paste "half" cut, Ctrl-c"#)
    }

    @Test("19: a paste without an end is over after 2 s of silence, and keys work")
    func noEnd() {
        var decoder = InputDecoder()
        #expect(decoder.receive(Self.start + Array("half".utf8)).isEmpty)
        #expect(decoder.patience == .seconds(2))
        #expect(decoder.receive("more".utf8, after: .milliseconds(1_900)).isEmpty)
        #expect(decoder.patience == .seconds(2))
        #expect(decoder.stopWaiting() == [.paste(Paste(text: "halfmore", isCut: true))])
        #expect(decoder.patience == nil)
        #expect(describe(decoder.receive("k\u{1B}[A".utf8)) == "k, Up")
    }

    @Test(
        "20: reports of the focus and the mouse do not enter a paste, wherever it is cut",
        arguments: ["\u{1B}[I", "\u{1B}[O", "\u{1B}[<35;150;7M", "\u{1B}[<0;1;1m"])
    func reports(report: String) {
        let bytes = Self.start + Array("ab\(report)cd\(report)".utf8) + Self.end
        for place in 1..<bytes.count {
            var decoder = InputDecoder()
            let events = decoder.receive(bytes[..<place]) + decoder.receive(bytes[place...])
            #expect(events + decoder.stopWaiting() == [.paste(Paste(text: "abcd"))], "cut at \(place)")
        }
    }

    @Test("Of a paste that is too long the beginning is kept, and the rest is counted")
    func limit() throws {
        var decoder = InputDecoder(pasteLimit: 1_000)
        #expect(decoder.receive(Self.start).isEmpty)
        for _ in 0..<1_000 { #expect(decoder.receive("漢".utf8).isEmpty) }
        #expect(decoder.pendingByteCount <= 1_000)
        #expect(decoder.receive(Self.end).isEmpty)
        guard case .paste(let paste) = try #require(decoder.stopWaiting().first) else {
            return #expect(Bool(false))
        }
        // The last character that fits whole is the last one.
        #expect(paste.text == String(repeating: "漢", count: 333))
        #expect(paste.omittedBytes == 3 * (1_000 - 333) && !paste.isCut)
        #expect(InputDecoder.pasteLimit == 8 << 20)
    }
}
