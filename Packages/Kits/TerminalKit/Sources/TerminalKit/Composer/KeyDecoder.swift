/// Decodes the bytes of a terminal to keys, however they are split.
struct KeyDecoder: Sendable {
    private enum State: Equatable {
        case ground
        /// After Escape.
        case escape
        /// After Escape and `O`.
        case single
        /// After Escape and `[`.
        case sequence
        /// After Escape and `]`: a report of the terminal.
        case string
        case paste
    }

    private var state = State.ground
    private var parameters: [UInt8] = []
    private var pasted = PastedText()
    private var characters = UTF8Decoder()

    /// Longer sequences are not keys; the rest is text again.
    private static let longestSequence = 32

    /// After how many milliseconds of silence an incomplete sequence counts as complete; nil if it is complete.
    ///
    /// Slow links split Escape sequences and pastes, and a link that drops in the middle of one must not block the
    /// keyboard.
    var patience: Int32? {
        switch state {
        case .ground: nil
        case .escape, .single, .sequence, .string: 500
        case .paste: 2_000
        }
    }

    /// The keys that end with `byte`; more than one only if bytes are invalid.
    mutating func receive(_ byte: UInt8) -> [ComposerKey] {
        switch state {
        case .ground: return ground(byte)
        case .paste:
            switch pasted.receive(byte) {
            case .more: return []
            case .end:
                state = .ground
                return [.paste(pasted.text)]
            case .interrupted:
                state = .ground
                return [.cutPaste(pasted.text), .interrupt]
            }
        case .escape: return escape(byte)
        case .single:
            state = .ground
            return byte < 0x20 ? ground(byte) : KeySequence(final: byte).key.map { [$0] } ?? []
        case .sequence: return sequence(byte)
        case .string:
            if byte == 0x07 || byte == 0x1B { state = byte == 0x07 ? .ground : .escape }
            return []
        }
    }

    /// Treats the received bytes as complete, because nothing followed.
    mutating func stopWaiting() -> [ComposerKey] {
        defer { state = .ground }
        switch state {
        case .escape: return [.escape]
        case .paste: return [.cutPaste(pasted.text)]
        case .ground, .single, .sequence, .string: return []
        }
    }

    private mutating func escape(_ byte: UInt8) -> [ComposerKey] {
        state = .ground
        switch byte {
        case UInt8(ascii: "["):
            state = .sequence
            parameters = []
        case UInt8(ascii: "O"): state = .single
        case UInt8(ascii: "]"): state = .string
        case 0x1B:
            state = .escape
            return [.escape]
        case 0x0D, 0x0A: return [.newLine]
        case UInt8(ascii: "b"), UInt8(ascii: "B"): return [.wordLeft]
        case UInt8(ascii: "f"), UInt8(ascii: "F"): return [.wordRight]
        case UInt8(ascii: "d"), UInt8(ascii: "D"): return [.deleteWordForward]
        case 0x7F, 0x08: return [.deleteWordBackward]
        // Ctrl-C and similar keys work even after a lone Escape.
        case 0x00..<0x20: return [.escape] + ground(byte)
        default: break
        }
        return []
    }

    private mutating func sequence(_ byte: UInt8) -> [ComposerKey] {
        switch byte {
        case 0x20...0x3F where parameters.count < Self.longestSequence:
            parameters.append(byte)
            return []
        case 0x40...0x7E:
            state = .ground
            let sequence = KeySequence(parameters: parameters, final: byte)
            if sequence.beginsPaste {
                state = .paste
                pasted = PastedText()
            }
            return sequence.key.map { [$0] } ?? []
        default:
            state = .ground
            return ground(byte)
        }
    }

    private mutating func ground(_ byte: UInt8) -> [ComposerKey] {
        if byte < 0x20 || byte == 0x7F {
            let cut = characters.isInside ? [ComposerKey.text("\u{FFFD}")] : []
            characters = UTF8Decoder()
            if byte == 0x1B {
                state = .escape
                return cut
            }
            return cut + (Self.controls[byte].map { [$0] } ?? [])
        }
        switch characters.receive(byte) {
        case .more: return []
        case .scalar(let value): return [.text(Unicode.Scalar(value) ?? "\u{FFFD}")]
        case .invalid: return [.text("\u{FFFD}")]
        case .invalidThenRetry: return [.text("\u{FFFD}")] + ground(byte)
        }
    }

    private static let controls: [UInt8: ComposerKey] = [
        0x01: .lineStart, 0x02: .left, 0x03: .interrupt, 0x04: .end, 0x05: .lineEnd, 0x06: .right, 0x07: .abandon,
        0x08: .deleteBackward, 0x09: .complete, 0x0A: .newLine, 0x0B: .deleteToLineEnd, 0x0C: .clearScreen,
        0x0D: .submit, 0x0E: .down, 0x10: .up, 0x12: .search, 0x15: .deleteToLineStart, 0x17: .deleteSpacedWordBackward,
        0x19: .yank, 0x1A: .suspend, 0x7F: .deleteBackward,
    ]
}

/// A key or an action of the user at the keyboard.
enum ComposerKey: Equatable, Sendable {
    /// A character, or a part of one.
    case text(Unicode.Scalar)
    /// A pasted text, with line feeds between its lines and no control characters.
    case paste(String)
    /// The same, but its end is missing.
    case cutPaste(String)
    case submit, newLine
    case left, right, up, down
    case wordLeft, wordRight
    case lineStart, lineEnd
    case deleteBackward, deleteForward
    case deleteWordBackward, deleteSpacedWordBackward, deleteWordForward
    case deleteToLineStart, deleteToLineEnd
    case yank
    case complete, search, escape, abandon
    case interrupt, end, clearScreen, suspend
}

/// A control sequence of a key: numbers, and a final byte.
struct KeySequence: Sendable {
    private let numbers: [Int]
    private let final: Unicode.Scalar

    init(parameters: [UInt8] = [], final: UInt8) {
        // Other characters occur in replies of the terminal, which are not keys.
        numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map {
            Int(String(decoding: $0, as: UTF8.self)) ?? 0
        }
        self.final = Unicode.Scalar(final)
    }

    private var first: Int { numbers.first ?? 0 }
    /// The sum of Shift (1), Alt (2) and Ctrl (4), plus one.
    private var modifiers: Int { numbers.count > 1 ? max(0, numbers[1] - 1) : 0 }
    private var isByWord: Bool { modifiers & 0b110 != 0 }

    var beginsPaste: Bool { final == "~" && first == 200 }

    var key: ComposerKey? {
        switch final {
        case "A": .up
        case "B": .down
        case "C": isByWord ? .wordRight : .right
        case "D": isByWord ? .wordLeft : .left
        case "H": .lineStart
        case "F": .lineEnd
        case "M": .submit
        case "~": tilde
        // The form of terminals that report more about a key: its code, and the modifiers.
        case "u": first == 13 ? (modifiers == 0 ? .submit : .newLine) : first == 27 ? .escape : nil
        default: nil
        }
    }

    private var tilde: ComposerKey? {
        switch first {
        case 1, 7: .lineStart
        case 4, 8: .lineEnd
        case 3: isByWord ? .deleteWordForward : .deleteForward
        case 27 where numbers.count > 2 && numbers[2] == 13: .newLine
        default: nil
        }
    }
}

/// A text that the terminal marks as pasted, byte by byte up to its end mark.
struct PastedText: Sendable {
    enum Step {
        case more, end
        /// The user pressed Ctrl-C twice, because the end did not arrive.
        case interrupted
    }

    private static let endMark = Array("\u{1B}[201~".utf8)
    private static let interrupts: [UInt8] = [0x03, 0x03]

    private var bytes: [UInt8] = []

    mutating func receive(_ byte: UInt8) -> Step {
        bytes.append(byte)
        // Beyond the maximum size nothing is stored, so that the paste is refused.
        if bytes.count > 2 * Composer.limit { bytes.removeSubrange(Composer.limit + 1..<bytes.count - 8) }
        if byte == UInt8(ascii: "~"), drop(Self.endMark) { return .end }
        if byte == 0x03, drop(Self.interrupts) { return .interrupted }
        return .more
    }

    /// The received text, with line feeds between its lines, and sanitised.
    var text: String {
        // Terminals send Return for the end of a line.
        let lines = String(decoding: bytes, as: UTF8.self).split(omittingEmptySubsequences: false) {
            $0 == "\r\n" || $0 == "\r" || $0 == "\n"
        }
        return Sanitizer.sanitize(lines.joined(separator: "\n"))
    }

    /// Removes `mark` from the end, if it is there.
    private mutating func drop(_ mark: [UInt8]) -> Bool {
        guard bytes.count >= mark.count, bytes.suffix(mark.count).elementsEqual(mark) else { return false }
        bytes.removeLast(mark.count)
        return true
    }
}
