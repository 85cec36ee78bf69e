/// Makes keys of the bytes that a terminal sends, wherever they are cut.
struct KeyDecoder: Sendable {
    private enum State: Equatable {
        case ground
        /// After Escape.
        case escape
        /// After Escape and `O`.
        case single
        /// After Escape and `[`.
        case sequence
        /// After Escape and `]`: what a terminal reports, if one asked.
        case string
        case paste
    }

    private var state = State.ground
    private var parameters: [UInt8] = []
    private var pasted = PastedText()
    private var characters = UTF8Decoder()

    /// Longer ones are no keys; what follows is text again.
    private static let longestSequence = 32

    /// How many milliseconds of silence mean that what arrived is all that comes; nothing where it is whole.
    ///
    /// Slow links send Escape and the rest of a key apart, and a paste in pieces; a link that drops in the midst of one
    /// must not take the keyboard with it.
    var patience: Int32? {
        switch state {
        case .ground: nil
        case .escape, .single, .sequence, .string: 500
        case .paste: 2_000
        }
    }

    /// The keys that end with `byte`; more than one only where bytes are invalid.
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

    /// Takes what arrived for all there is, since nothing followed.
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
        // Ctrl-C and the like work even when a lone Escape was pressed before.
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
