/// What stands between `[` and `]`.
struct ScalarSet: Sendable {
    var isNegated = false
    var ranges: [ClosedRange<UInt32>] = []

    func contains(_ value: UInt32) -> Bool {
        ranges.contains { $0.contains(value) } != isNegated
    }

    /// The named classes, in ASCII only. As in git, a vertical tab and a form feed are no space.
    static func named(_ name: some Collection<UInt8>) -> [ClosedRange<UInt32>]? {
        switch String(decoding: name, as: UTF8.self) {
        case "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A]
        case "alpha": [0x41...0x5A, 0x61...0x7A]
        case "blank": [0x09...0x09, 0x20...0x20]
        case "cntrl": [0x00...0x1F, 0x7F...0x7F]
        case "digit": [0x30...0x39]
        case "graph": [0x21...0x7E]
        case "lower": [0x61...0x7A]
        case "print": [0x20...0x7E]
        case "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]
        case "space": [0x09...0x0A, 0x0D...0x0D, 0x20...0x20]
        case "upper": [0x41...0x5A]
        case "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66]
        default: nil
        }
    }
}
