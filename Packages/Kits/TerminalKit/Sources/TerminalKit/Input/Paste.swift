/// A pasted text, which cannot control a terminal or a program.
public struct Paste: Hashable, Sendable {
    /// The text, with line feeds between its lines. Other control characters are shown as by ``Sanitizer``.
    public var text: String
    /// How many bytes were left out, because the text is too long.
    public var omittedBytes: Int
    /// Whether the end of the paste did not arrive, so that a part may be missing.
    public var isCut: Bool

    /// A paste.
    public init(text: String, omittedBytes: Int = 0, isCut: Bool = false) {
        self.text = text
        self.omittedBytes = omittedBytes
        self.isCut = isCut
    }
}

/// Collects what a terminal sends between the marks of a paste.
struct PasteCollector: Sendable {
    /// What ends a paste, unless more of it follows.
    enum Ending {
        case mark
        /// The user pressed Ctrl-C twice, because the mark did not arrive.
        case interrupts
    }

    static let endMark = Array("\u{1B}[201~".utf8)
    static let startMark = Array("\u{1B}[200~".utf8)
    private static let escape: UInt8 = 0x1B
    private static let interrupt: UInt8 = 0x03
    /// Longer sequences are neither reports nor keys.
    private static let longestSequence = 64

    private let limit: Int
    private var sanitizer = StreamSanitizer()
    private var text: [UInt8] = []
    private var omittedBytes = 0
    /// The bytes of an escape sequence that may be the end mark, a report or a key.
    private var held: [UInt8] = []
    private var isAfterReturn = false
    private var isAfterInterrupt = false

    /// How many bytes are kept.
    var byteCount: Int { text.count + held.count }

    init(limit: Int) { self.limit = limit }

    /// Takes bytes up to an end of the paste, or all of them.
    mutating func receive(_ bytes: inout ArraySlice<UInt8>) -> Ending? {
        while let byte = bytes.first {
            if isAfterReturn {
                isAfterReturn = false
                // CR LF is one end of a line.
                if byte == 0x0A {
                    bytes.removeFirst()
                    continue
                }
            }
            if isAfterInterrupt {
                isAfterInterrupt = false
                if byte == Self.interrupt {
                    bytes.removeFirst()
                    return .interrupts
                }
                append([Self.interrupt])
            }
            if !held.isEmpty {
                if hold(byte, &bytes) { return .mark }
                continue
            }
            let plain = bytes.prefix { $0 != Self.escape && $0 != Self.interrupt && $0 != 0x0D }
            append(plain)
            bytes.removeFirst(plain.count)
            guard plain.isEmpty else { continue }
            bytes.removeFirst()
            switch byte {
            case Self.escape: held = [byte]
            case Self.interrupt: isAfterInterrupt = true
            default: endLine()
            }
        }
        return nil
    }

    /// Adds an end to the text, because it was part of what was pasted.
    mutating func show(_ ending: Ending) {
        append(ending == .mark ? Self.endMark[...] : [Self.interrupt, Self.interrupt])
    }

    /// The paste, which is over.
    mutating func finish(isCut: Bool) -> Paste {
        show()
        if isAfterInterrupt { append([Self.interrupt]) }
        store { sanitizer, output in sanitizer.finish(into: &output) }
        defer { self = PasteCollector(limit: limit) }
        return Paste(text: String(decoding: text, as: UTF8.self), omittedBytes: omittedBytes, isCut: isCut)
    }

    /// Continues the held sequence with the first of `bytes`, or shows it and leaves the byte. Returns whether it is the
    /// end mark.
    private mutating func hold(_ byte: UInt8, _ bytes: inout ArraySlice<UInt8>) -> Bool {
        if held.count == 1
            ? byte == UInt8(ascii: "[") : (0x20...0x3F).contains(byte) && held.count < Self.longestSequence
        {
            held.append(byte)
            bytes.removeFirst()
            return false
        }
        guard held.count > 1, (0x40...0x7E).contains(byte) else {
            show()
            return false
        }
        held.append(byte)
        bytes.removeFirst()
        if held == Self.endMark {
            held = []
            return true
        }
        let sequence = ControlSequence(held.dropFirst(2).dropLast(), final: byte)
        switch sequence.final {
        // Reports of the focus and the mouse that came in between.
        case "I" where held.count == 3, "O" where held.count == 3: held = []
        case "M" where sequence.prefix == UInt8(ascii: "<"), "m" where sequence.prefix == UInt8(ascii: "<"): held = []
        // Some terminals send a paste as the keys that would type it.
        case "u" where sequence.prefix == nil, "~" where sequence.number(0) == 27:
            if sequence.isRelease {
                held = []
            } else if let typed = sequence.typed.flatMap(Self.bytes) {
                held = []
                if typed == [0x0A] || typed == [0x0D] { endLine() } else { append(typed[...]) }
            } else {
                show()
            }
        default: show()
        }
        return false
    }

    /// The bytes that a key types.
    private static func bytes(of event: InputEvent) -> [UInt8]? {
        switch event {
        case .text(let text): return Array(text.utf8)
        case .key(let press):
            if let scalar = press.text { return Array(String(Character(scalar)).utf8) }
            switch (press.key, press.modifiers) {
            case (.enter, _): return [0x0A]
            case (.tab, _): return [0x09]
            case (.escape, _): return [escape]
            case (.backspace, _): return [0x7F]
            case (.character(let scalar), .ctrl) where ("a"..."z").contains(scalar): return [UInt8(scalar.value & 0x1F)]
            default: return nil
            }
        default: return nil
        }
    }

    /// A held sequence that is none of ours is text, whose Escape is shown.
    private mutating func show() {
        let bytes = held
        held = []
        append(bytes[...])
    }

    private mutating func endLine() {
        append([0x0A])
        isAfterReturn = true
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        store { sanitizer, output in sanitizer.append(bytes.span, to: &output) }
    }

    /// Adds to the text, and cuts it at the limit between two characters.
    private mutating func store(_ add: (inout StreamSanitizer, inout [UInt8]) -> Void) {
        guard omittedBytes == 0 else {
            var omitted: [UInt8] = []
            add(&sanitizer, &omitted)
            omittedBytes += omitted.count
            return
        }
        add(&sanitizer, &text)
        guard text.count > limit else { return }
        var end = limit
        while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
        omittedBytes = text.count - end
        text.removeSubrange(end...)
    }
}
