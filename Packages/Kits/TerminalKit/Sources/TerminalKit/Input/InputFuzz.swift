/// The entry of fuzzers: any bytes as the input of a terminal. A broken promise stops the program.
@_spi(Fuzzing) public enum InputFuzz {
    /// A small limit, so that it is met.
    private static let pasteLimit = 256

    /// Decodes `bytes` at once and one by one, with settings that the first of them selects.
    public static func decode(_ bytes: [UInt8]) {
        let settings = bytes.first ?? 0
        var whole = decoder(settings)
        var events = whole.receive(bytes)
        check(events, whole, count: bytes.count)
        var cut = decoder(settings)
        var pieces: [InputEvent] = []
        for byte in bytes {
            pieces += cut.receive(byte)
            check([], cut, count: bytes.count)
        }
        events += end(&whole)
        pieces += end(&cut)
        // Which of several end marks ends a paste depends on how many are there at once.
        precondition(events == pieces || endMarks(in: bytes) > 1, "the cuts show")
    }

    private static func decoder(_ settings: UInt8) -> InputDecoder {
        var decoder = InputDecoder(erase: settings >> 3, pasteLimit: pasteLimit)
        decoder.reportsEscape = settings & 1 != 0
        decoder.isFenceOpen = settings & 2 != 0
        decoder.collectsPastes = settings & 4 == 0
        return decoder
    }

    /// Nothing is pending after the end, whatever came before, and the keyboard works.
    private static func end(_ decoder: inout InputDecoder) -> [InputEvent] {
        let events = decoder.stopWaiting()
        check(events, decoder, count: 0)
        precondition(decoder.patience == nil && decoder.pendingByteCount == 0, "something is still pending")
        precondition(decoder.receive(UInt8(ascii: "a")) == [.key(KeyPress(.character("a")))], "the keyboard is dead")
        return events
    }

    private static func check(_ events: [InputEvent], _ decoder: InputDecoder, count: Int) {
        let limit = InputDecoder.stringLimit + pasteLimit + 4_096
        // The name of a direction in a paste, such as `‹U+202E›`, is four times as long as the scalar.
        precondition(decoder.pendingByteCount <= min(limit, 4 * count), "more is kept than came")
        for event in events {
            switch event {
            case .key(let press):
                precondition(press.text.map { isHarmless(String(Character($0))) } ?? true, "a character is a command")
                precondition(press.modifiers.rawValue < 64, "a lock is a modifier")
            case .text(let text): precondition(isHarmless(text), "a text controls a terminal")
            case .paste(let paste):
                precondition(paste.text.utf8.count <= pasteLimit, "a paste is too long")
                precondition(isHarmless(paste.text.filter { $0 != "\n" && $0 != "\t" }), "a paste controls a terminal")
            case .reply(.name(let text)), .reply(.graphics(let text)):
                precondition(isHarmless(text.filter { $0 != "\n" && $0 != "\t" }), "a reply controls a terminal")
            case .mouse(let press): precondition(press.column > 0 && press.row > 0, "the mouse is nowhere")
            case .focus, .reply: break
            }
        }
    }

    private static func isHarmless(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0 == "\n" || $0 == "\t" || Sanitizer.isHarmful($0.value) }
    }

    private static func endMarks(in bytes: [UInt8]) -> Int {
        bytes.indices.count { bytes[$0...].starts(with: PasteCollector.endMark) }
    }
}
