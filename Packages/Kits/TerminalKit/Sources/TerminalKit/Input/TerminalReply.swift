import Capabilities

/// What a terminal answers, or reports on its own.
public enum TerminalReply: Hashable, Sendable {
    /// The primary device attributes (DA1), which every terminal answers. Answers come in the order of the questions,
    /// so what is missing before this one will not come.
    case attributes([Int])
    /// The state of a mode (DECRPM): 0 unknown, 1 set, 2 reset, 3 always set, 4 always reset.
    case mode(Int, value: Int)
    /// The position of the cursor, counted from 1. It looks like Shift-F3, so it is only expected before a fence.
    case cursor(row: Int, column: Int)
    /// The flags of the kitty keyboard protocol.
    case keyboardFlags(Int)
    /// A colour (OSC 4, 10, 11 and 12).
    case color(ColorSlot, TerminalColor)
    /// The size of the window in cells and pixels, which was asked for or has changed.
    case size(TerminalSize, pixelWidth: Int, pixelHeight: Int)
    /// The user has changed to a dark or light theme.
    case theme(TerminalBackground)
    /// The name and the version of the terminal (XTVERSION).
    case name(String)
    /// An answer of the graphics protocol, without its `G`.
    case graphics(String)

    /// The colours that a terminal can be asked for.
    public enum ColorSlot: Hashable, Sendable {
        /// The colours of text, of what is behind it, and of the cursor.
        case foreground, background, cursor
        /// One of the 256 numbered colours.
        case palette(Int)
    }

    /// The reply in a control sequence; nil for a key and for an unknown one.
    ///
    /// - Parameter isFenceOpen: whether the cursor was asked for.
    init?(_ sequence: ControlSequence, isFenceOpen: Bool) {
        let isPrivate = sequence.prefix == UInt8(ascii: "?")
        guard isPrivate || sequence.prefix == nil else { return nil }
        let first = sequence.number(0)
        if sequence.intermediates == [UInt8(ascii: "$")] {
            guard isPrivate, sequence.final == "y", let first, let value = sequence.number(1) else { return nil }
            self = .mode(first, value: value)
            return
        }
        guard sequence.intermediates.isEmpty else { return nil }
        switch (sequence.final, isPrivate) {
        case ("c", true): self = .attributes(sequence.fields.compactMap { $0.first ?? nil })
        case ("u", true): self = .keyboardFlags(first ?? 0)
        case ("n", true) where first == 997 && sequence.number(1) == 1: self = .theme(.dark)
        case ("n", true) where first == 997 && sequence.number(1) == 2: self = .theme(.light)
        case ("R", _) where isFenceOpen:
            guard let first, let column = sequence.number(1) else { return nil }
            self = .cursor(row: first, column: column)
        case ("t", false) where first == 48:
            guard let rows = sequence.number(1), let columns = sequence.number(2) else { return nil }
            self = .size(
                TerminalSize(columns: columns, rows: rows), pixelWidth: sequence.number(4) ?? 0,
                pixelHeight: sequence.number(3) ?? 0)
        default: return nil
        }
    }

    /// The reply in a string that began with Escape and `introducer`; nil for an unknown one.
    init?(string: some Collection<UInt8>, introducer: UInt8) {
        let text = Sanitizer.sanitize(String(decoding: string, as: UTF8.self))
        switch introducer {
        case UInt8(ascii: "]"): self.init(command: text)
        case UInt8(ascii: "P") where text.hasPrefix(">|"): self = .name(String(text.dropFirst(2)))
        case UInt8(ascii: "_") where text.hasPrefix("G"): self = .graphics(String(text.dropFirst()))
        default: return nil
        }
    }

    /// The text of an OSC.
    private init?(command: String) {
        let parts = command.split(separator: ";", maxSplits: 2, omittingEmptySubsequences: false)
        let slots: [Substring: ColorSlot] = ["10": .foreground, "11": .background, "12": .cursor]
        guard let number = parts.first, parts.count > 1 else { return nil }
        if let slot = slots[number], parts.count == 2, let color = TerminalColor(parts[1]) {
            self = .color(slot, color)
        } else if number == "4", parts.count == 3, let index = Int(parts[1]), (0...255).contains(index),
            let color = TerminalColor(parts[2])
        {
            self = .color(.palette(index), color)
        } else {
            return nil
        }
    }
}

/// A colour as terminals tell it, with components from 0 to 65535.
public struct TerminalColor: Hashable, Sendable {
    /// The components.
    public let red: UInt16, green: UInt16, blue: UInt16

    /// `rgb:` or `rgba:` and the components, each of one to four hexadecimal digits; nil for other texts.
    public init?(_ text: some StringProtocol) {
        guard let colon = text.firstIndex(of: ":"), ["rgb", "rgba"].contains(String(text[..<colon])) else { return nil }
        let parts = text[text.index(after: colon)...].split(separator: "/", omittingEmptySubsequences: false)
        let values = parts.compactMap { part -> UInt16? in
            guard (1...4).contains(part.count), part.allSatisfy(\.isHexDigit), let value = UInt32(part, radix: 16)
            else { return nil }
            return UInt16(value * 0xFFFF / (1 << (4 * UInt32(part.count)) - 1))
        }
        guard values.count == parts.count, (3...4).contains(values.count) else { return nil }
        (red, green, blue) = (values[0], values[1], values[2])
    }
}

/// Takes the answers of a terminal out of its input; the rest was typed.
struct ReplyCollector: Sendable {
    private var decoder = InputDecoder()
    /// The bytes that belong to no answer, as they came. An incomplete answer is among them, because the next reader
    /// may receive its end.
    private(set) var typed: [UInt8] = []

    /// The answer that ends with `byte`.
    mutating func receive(_ byte: UInt8) -> TerminalReply? {
        typed.append(byte)
        for case .reply(let reply) in decoder.receive(byte) {
            typed.removeLast(min(typed.count, decoder.sequenceLength))
            return reply
        }
        return nil
    }
}
