import JSON

/// The types of JSON Schema. A whole number is both an integer and a number.
struct Kinds: OptionSet {
    let rawValue: UInt8

    static let null = Kinds(rawValue: 1)
    static let boolean = Kinds(rawValue: 2)
    static let integer = Kinds(rawValue: 4)
    static let number = Kinds(rawValue: 8)
    static let string = Kinds(rawValue: 16)
    static let array = Kinds(rawValue: 32)
    static let object = Kinds(rawValue: 64)
    static let all = Kinds(rawValue: 127)

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// What a value is.
    @inline(__always)
    init(of value: JSON) {
        switch value {
        case .null: self = .null
        case .bool: self = .boolean
        case .int, .big: self = [.integer, .number]
        case .double(let number): self = number.rounded() == number ? [.integer, .number] : .number
        case .string: self = .string
        case .array: self = .array
        case .object: self = .object
        }
    }

    /// The type of this name.
    init?(named name: String) {
        guard let kind = Self.named.first(where: { $0.name == name })?.kind else { return nil }
        self = kind
    }

    private static let named: [(name: String, kind: Kinds, words: String)] = [
        ("string", .string, "a string"), ("integer", .integer, "an integer"), ("number", .number, "a number"),
        ("boolean", .boolean, "a boolean"), ("object", .object, "an object"), ("array", .array, "an array"),
        ("null", .null, "null"),
    ]

    /// "a string, an integer or null".
    var words: String {
        let words = Self.named.compactMap { name, kind, words in
            !contains(kind) || kind == .integer && contains(.number) ? nil : words
        }
        guard let last = words.last, words.count > 1 else { return words.first ?? "nothing" }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }
}
