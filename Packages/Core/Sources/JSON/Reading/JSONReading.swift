/// How a text is parsed: the dialect, the errors that are tolerated, and the limits.
public struct JSONReading: Sendable {
    enum Dialect { case json, json5 }

    /// The highest possible `maxDepth`. It ensures that recursion over the tree fits on a thread's stack.
    public static let deepest = 512

    let dialect: Dialect
    let keepsLastDuplicate: Bool
    let repairsText: Bool

    /// The maximum nesting of arrays and objects, at most `deepest`.
    public var maxDepth = 64 {
        didSet { maxDepth = min(maxDepth, Self.deepest) }
    }

    /// The maximum length of the text in bytes.
    public var maxBytes = 256 << 20

    private init(_ dialect: Dialect, keepsLastDuplicate: Bool = false, repairsText: Bool = false) {
        self.dialect = dialect
        self.keepsLastDuplicate = keepsLastDuplicate
        self.repairsText = repairsText
    }

    /// Strict RFC 8259. Duplicate keys, invalid UTF-8, unpaired surrogates and a byte order mark are refused.
    public static let strict = JSONReading(.json)

    /// Lenient JSON, for messages of a peer. If a key occurs twice, the last value counts. Invalid UTF-8 and unpaired
    /// surrogates become U+FFFD.
    public static let stream = JSONReading(.json, keepsLastDuplicate: true, repairsText: true)

    /// JSON5, for settings that people write. Duplicate keys, invalid UTF-8, `Infinity` and `NaN` are refused.
    public static let json5 = JSONReading(.json5)
}
