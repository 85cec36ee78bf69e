/// How a text is read: which dialect, what is forgiven, and how large it may be.
public struct JSONReading: Sendable {
    enum Dialect { case json, json5 }

    /// No text may nest deeper than this, whatever the options say, so that a walk of the tree fits a thread's stack.
    public static let deepest = 512

    let dialect: Dialect
    let keepsLastDuplicate: Bool
    let repairsText: Bool

    /// How many arrays and objects may contain each other; at most `deepest`.
    public var maxDepth = 64 {
        didSet { maxDepth = min(maxDepth, Self.deepest) }
    }

    /// How many bytes the text may have.
    public var maxBytes = 256 << 20

    private init(_ dialect: Dialect, keepsLastDuplicate: Bool = false, repairsText: Bool = false) {
        self.dialect = dialect
        self.keepsLastDuplicate = keepsLastDuplicate
        self.repairsText = repairsText
    }

    /// RFC 8259 to the letter; equal keys, bad UTF-8, unpaired surrogates and a byte order mark are refused.
    public static let strict = JSONReading(.json)

    /// JSON from a peer that is to be understood rather than corrected: of equal keys the last counts, and bad UTF-8
    /// or an unpaired surrogate becomes U+FFFD.
    public static let stream = JSONReading(.json, keepsLastDuplicate: true, repairsText: true)

    /// JSON5, for settings that people write; equal keys, bad UTF-8, `Infinity` and `NaN` are refused.
    public static let json5 = JSONReading(.json5)
}
