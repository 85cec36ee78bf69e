/// A key that was pressed, or is held and repeats.
public struct KeyPress: Hashable, Sendable {
    /// The key. Shift is part of a character: Shift and `a` are the character `A` without ``Modifiers/shift``.
    public var key: Key
    /// The keys that were held with it.
    public var modifiers: Modifiers

    /// A press of `key`.
    public init(_ key: Key, _ modifiers: Modifiers = []) {
        self.key = key
        self.modifiers = modifiers
    }

    /// The text that the key types; nil for a named key, and for a character with Ctrl, Alt or another modifier.
    public var text: Unicode.Scalar? {
        guard case .character(let scalar) = key, modifiers.isSubset(of: .shift) else { return nil }
        return scalar
    }
}

/// A key by its character or its name.
public enum Key: Hashable, Sendable {
    /// A character, or a part of one. Ctrl-A is `a`, Ctrl-Space a space, and a line feed `j`, each with Ctrl.
    case character(Unicode.Scalar)
    /// The large keys around the letters; Enter also stands for that of the keypad.
    case enter, tab, backspace, escape
    /// The arrows.
    case up, down, left, right
    /// The keys that move further.
    case home, end, pageUp, pageDown
    /// The keys beside them.
    case insert, delete
    /// The key that opens a menu.
    case menu
    /// F1 to F35.
    case function(Int)
}

/// The keys held with another one. Caps lock and num lock are no modifiers here.
public struct Modifiers: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    /// Modifiers by the bits that terminals send.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Shift, if it is not part of the character.
    public static let shift = Modifiers(rawValue: 1)
    /// Alt, or Option, or a preceding Escape.
    public static let alt = Modifiers(rawValue: 2)
    /// Ctrl.
    public static let ctrl = Modifiers(rawValue: 4)
    /// Super: the Windows or Command key.
    public static let `super` = Modifiers(rawValue: 8)
    /// Hyper.
    public static let hyper = Modifiers(rawValue: 16)
    /// Meta.
    public static let meta = Modifiers(rawValue: 32)

    /// The second parameter of a key: the bits plus one. Bits 64 and 128 are the locks.
    init(parameter: Int?) { self.init(rawValue: UInt8(max(0, (parameter ?? 1) - 1) & 0x3F)) }
}

/// The parts of `CSI … final`: numbers between semicolons, each with further numbers between colons.
struct ControlSequence: Sendable {
    /// One of `<`, `=`, `>` and `?`, if the parameters begin with it.
    let prefix: UInt8?
    let fields: [[Int?]]
    let intermediates: [UInt8]
    let final: Unicode.Scalar

    /// Larger numbers are cut, so that none overflows.
    private static let largest = 10_000_000

    init(_ parameters: some Collection<UInt8>, final: UInt8) {
        var prefix: UInt8?
        var fields: [[Int?]] = [[nil]]
        var intermediates: [UInt8] = []
        for (index, byte) in parameters.enumerated() {
            switch byte {
            case 0x3C...0x3F where index == 0: prefix = byte
            case UInt8(ascii: ";") where intermediates.isEmpty: fields.append([nil])
            case UInt8(ascii: ":") where intermediates.isEmpty: fields[fields.count - 1].append(nil)
            case 0x30...0x39 where intermediates.isEmpty:
                let (field, part) = (fields.count - 1, fields[fields.count - 1].count - 1)
                fields[field][part] = min(Self.largest, (fields[field][part] ?? 0) * 10 + Int(byte - 0x30))
            // A parameter after an intermediate is kept as one, so that the sequence is an unknown one.
            default: intermediates.append(byte)
            }
        }
        (self.prefix, self.fields, self.intermediates) = (prefix, fields, intermediates)
        self.final = Unicode.Scalar(final)
    }

    /// The number at a place; nil if it is missing.
    func number(_ field: Int, _ part: Int = 0) -> Int? {
        guard field < fields.count, part < fields[field].count else { return nil }
        return fields[field][part]
    }

    private var modifiers: Modifiers { Modifiers(parameter: number(1)) }
    /// The third kind of key event, besides a press and a repeat.
    var isRelease: Bool { prefix == nil && number(1, 1) == 3 }

    var isFocus: Bool { isPlain && fields == [[nil]] && ["I", "O"].contains(final) }
    var beginsPaste: Bool { isPlain && final == "~" && number(0) == 200 }
    private var isPlain: Bool { prefix == nil && intermediates.isEmpty }

    /// The key or the typed text; nil for a release, and for any other sequence.
    var typed: InputEvent? {
        guard isPlain, !isRelease else { return nil }
        switch final {
        case "u": return coded(number(0) ?? 0, hasShiftedCode: false)
        case "~" where number(0) == 27 && fields.count > 2: return coded(number(2) ?? 0, hasShiftedCode: true)
        case "~": return Self.numbered[number(0) ?? 0].map { .key(KeyPress($0, modifiers)) }
        case "Z": return .key(KeyPress(.tab, modifiers.union(.shift)))
        default:
            // Without a number, or with the number 1. Others are reports, such as that of the cursor (`CSI 3;4R`).
            guard (number(0) ?? 1) == 1, let key = Self.lettered[final] else { return nil }
            return .key(KeyPress(key, modifiers))
        }
    }

    /// The key with a code of `CSI code:shifted:base ; modifiers:event ; text u`, or of `CSI 27 ; modifiers ; code ~`,
    /// whose code is that of the shifted character.
    private func coded(_ code: Int, hasShiftedCode: Bool) -> InputEvent? {
        if let key = Self.special[code] { return .key(KeyPress(key, modifiers)) }
        if !hasShiftedCode, modifiers.isSubset(of: .shift), let text { return text }
        guard code >= 0x20, let scalar = Unicode.Scalar(UInt32(code)) else {
            // A control character in the place of the code of its key.
            return (1...26).contains(code)
                ? .key(KeyPress(.character(Unicode.Scalar(UInt8(0x60 + code))), modifiers.union(.ctrl))) : nil
        }
        // The terminals' private codes are keys, never text: locks, modifiers and media keys do nothing.
        if (57_344...63_743).contains(code) {
            return Self.functional(code).map { .key(KeyPress($0, modifiers)) }
        }
        guard !Sanitizer.isHarmful(scalar.value) else { return nil }
        guard modifiers.contains(.shift) else { return .key(KeyPress(.character(scalar), modifiers)) }
        let unshifted = modifiers.subtracting(.shift)
        if let code = number(0, 1), !hasShiftedCode, code >= 0x20, let shifted = Unicode.Scalar(UInt32(code)),
            !Sanitizer.isHarmful(shifted.value)
        {
            return .key(KeyPress(.character(shifted), unshifted))
        }
        let upper = scalar.properties.uppercaseMapping.unicodeScalars
        if upper.count == 1, let only = upper.first, only != scalar {
            return .key(KeyPress(.character(only), unshifted))
        }
        // A capital or a sign is already the shifted character, but a space has none.
        let isShifted = hasShiftedCode && scalar != " " || scalar.properties.isUppercase
        return .key(KeyPress(.character(scalar), isShifted ? unshifted : modifiers))
    }

    /// The text field of a key: a character, or several ones of an input method.
    private var text: InputEvent? {
        guard fields.count > 2 else { return nil }
        let scalars = fields[2].compactMap { $0.flatMap { Unicode.Scalar(UInt32($0)) } }.filter {
            $0.value >= 0x20 && !Sanitizer.isHarmful($0.value)
        }
        guard let first = scalars.first else { return nil }
        return scalars.count == 1 ? .key(KeyPress(.character(first))) : .text(String(String.UnicodeScalarView(scalars)))
    }
}

// MARK: Tables

extension ControlSequence {
    /// The keys of `CSI letter` and `SS3 letter`.
    static let lettered: [Unicode.Scalar: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "F": .end, "H": .home, "P": .function(1), "Q": .function(2),
        "R": .function(3), "S": .function(4),
    ]

    /// The keys of the keypad after `SS3`.
    static let keypad: [Unicode.Scalar: Key] = [
        "M": .enter, "I": .tab, " ": .character(" "), "X": .character("="), "j": .character("*"), "k": .character("+"),
        "l": .character(","), "m": .character("-"), "n": .character("."), "o": .character("/"), "p": .character("0"),
        "q": .character("1"), "r": .character("2"), "s": .character("3"), "t": .character("4"), "u": .character("5"),
        "v": .character("6"), "w": .character("7"), "x": .character("8"), "y": .character("9"),
    ]

    /// The keys of `CSI number ~`.
    private static let numbered: [Int: Key] = [
        1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end, 11: .function(1),
        12: .function(2), 13: .function(3), 14: .function(4), 15: .function(5), 17: .function(6), 18: .function(7),
        19: .function(8), 20: .function(9), 21: .function(10), 23: .function(11), 24: .function(12), 25: .function(13),
        26: .function(14), 28: .function(15), 29: .function(16), 31: .function(17), 32: .function(18),
        33: .function(19), 34: .function(20),
    ]

    /// The codes of keys that have a name.
    private static let special: [Int: Key] = [
        8: .backspace, 9: .tab, 13: .enter, 27: .escape, 127: .backspace,
    ]

    /// The private codes, in the order of the protocol.
    private static func functional(_ code: Int) -> Key? {
        let named: [Key] = [
            .escape, .enter, .tab, .backspace, .insert, .delete, .left, .right, .up, .down, .pageUp, .pageDown, .home,
            .end,
        ]
        let signs = Array("0123456789./*-+".unicodeScalars)
        let moves: [Key] = [.left, .right, .up, .down, .pageUp, .pageDown, .home, .end, .insert, .delete]
        return switch code {
        case 57_344...57_357: named[code - 57_344]
        case 57_363: .menu
        case 57_364...57_398: .function(code - 57_363)
        case 57_399...57_413: .character(signs[code - 57_399])
        case 57_414: .enter
        case 57_415: .character("=")
        case 57_416: .character(",")
        case 57_417...57_426: moves[code - 57_417]
        default: nil
        }
    }
}

extension KeyPress {
    /// The key of a control byte. Terminals and users disagree about which of DEL and BS is Backspace, so both are,
    /// and so is the byte that the terminal's settings name (VERASE).
    init(control byte: UInt8, erase: UInt8, _ modifiers: Modifiers = []) {
        switch byte {
        case erase where erase != 0, 0x7F, 0x08: self.init(.backspace, modifiers)
        case 0x09: self.init(.tab, modifiers)
        case 0x0D: self.init(.enter, modifiers)
        case 0x1B: self.init(.escape, modifiers)
        case 0x00: self.init(.character(" "), modifiers.union(.ctrl))
        case 0x01...0x1A: self.init(.character(Unicode.Scalar(byte + 0x60)), modifiers.union(.ctrl))
        default: self.init(.character(Unicode.Scalar(byte + 0x40)), modifiers.union(.ctrl))
        }
    }
}
