/// How a value is written.
public struct JSONWriting: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// One member or element a line, indented by two spaces.
    public static let pretty = JSONWriting(rawValue: 1)

    /// Members in the order of their keys, so that equal values have equal texts.
    public static let sorted = JSONWriting(rawValue: 2)
}
