/// The modes that the output of a program has set and reset on a terminal, as the terminal understands them.
public struct TerminalModes {
    /// How often each mode was set and reset.
    private var sets: [Int: Int] = [:], resets: [Int: Int] = [:]
    /// The last change of each mode.
    public private(set) var isOn: [Int: Bool] = [:]
    /// How many changes of the keyboard are on the stack of the main and of the alternate screen.
    private var keyboards = [0, 0]
    private var pushes = 0, pops = 0
    /// Whether the output ends in the middle of a sequence.
    private var isCut = false

    private enum Place: Equatable { case text, escape, control, string, stringEscape }

    /// What all output of a program has changed.
    public init(after output: [UInt8]) {
        var place = Place.text
        var sequence: [UInt8] = []
        for byte in output {
            switch (place, byte) {
            case (_, 0x18): place = .text
            case (.string, 0x1B): place = .stringEscape
            case (.string, 0x07): place = .text
            case (.string, _): break
            case (.stringEscape, UInt8(ascii: "\\")): place = .text
            case (_, 0x1B): place = .escape
            case (.escape, UInt8(ascii: "[")), (.stringEscape, UInt8(ascii: "[")): (place, sequence) = (.control, [])
            case (.escape, UInt8(ascii: "]")), (.stringEscape, UInt8(ascii: "]")): place = .string
            case (.escape, _), (.stringEscape, _): place = .text
            case (.control, 0x40...0x7E):
                apply(String(decoding: sequence, as: UTF8.self), byte)
                place = .text
            case (.control, _): sequence.append(byte)
            case (.text, _): break
            }
        }
        isCut = place != .text
    }

    private mutating func apply(_ parameters: String, _ end: UInt8) {
        let screen = isOn[1049] == true ? 1 : 0
        switch end {
        case UInt8(ascii: "h") where parameters.hasPrefix("?"), UInt8(ascii: "l") where parameters.hasPrefix("?"):
            for mode in parameters.dropFirst().split(separator: ";").compactMap({ Int($0) }) {
                isOn[mode] = end == UInt8(ascii: "h")
                if end == UInt8(ascii: "h") { sets[mode, default: 0] += 1 } else { resets[mode, default: 0] += 1 }
            }
        case UInt8(ascii: "u") where parameters.hasPrefix(">"):
            keyboards[screen] += 1
            pushes += 1
        case UInt8(ascii: "u") where parameters.hasPrefix("<"):
            keyboards[screen] -= 1
            pops += 1
        default: break
        }
    }

    /// What is not as a shell expects it, for a message; empty if all is well.
    public var problems: [String] {
        var problems: [String] = []
        // Line wrapping and the cursor are on by default, everything else is off.
        for (mode, isOn) in isOn.sorted(by: { $0.key < $1.key }) where isOn != (mode == 7 || mode == 25) {
            problems.append("mode \(mode) is \(isOn ? "on" : "off")")
        }
        if keyboards != [0, 0] { problems.append("keyboard stacks \(keyboards)") }
        if pushes != pops { problems.append("\(pushes) keyboards pushed, \(pops) popped") }
        // The mouse is turned off twice.
        for mode in [1049, 1004, 2004] where sets[mode, default: 0] != resets[mode, default: 0] {
            problems.append("mode \(mode): \(sets[mode, default: 0]) sets, \(resets[mode, default: 0]) resets")
        }
        for mode in [1000, 1002, 1006] where 2 * sets[mode, default: 0] != resets[mode, default: 0] {
            problems.append("mode \(mode): \(sets[mode, default: 0]) sets, \(resets[mode, default: 0]) resets")
        }
        for mode in [7, 25] where sets[mode, default: 0] != resets[mode, default: 0] {
            problems.append("mode \(mode): \(sets[mode, default: 0]) sets, \(resets[mode, default: 0]) resets")
        }
        if isCut { problems.append("the output ends within a sequence") }
        return problems
    }
}
