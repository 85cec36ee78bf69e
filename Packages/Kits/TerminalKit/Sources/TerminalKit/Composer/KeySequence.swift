/// A control sequence that a key sends: numbers, and a final byte.
struct KeySequence: Sendable {
    private let numbers: [Int]
    private let final: Unicode.Scalar

    init(parameters: [UInt8] = [], final: UInt8) {
        // Others than digits and semicolons stand in replies of the terminal, which are no keys.
        numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map {
            Int(String(decoding: $0, as: UTF8.self)) ?? 0
        }
        self.final = Unicode.Scalar(final)
    }

    private var first: Int { numbers.first ?? 0 }
    /// Shift is 1, Alt 2 and Ctrl 4, and one is added.
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
        // As terminals say it that tell more about a key: its code, and the modifiers.
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
