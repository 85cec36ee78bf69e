/// The directions in which a descriptor may be worth a try.
public struct Readiness: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Reading, accepting, or learning of the end. The value is that of the C part.
    public static let readable = Readiness(rawValue: 1)
    /// Writing, or having connected.
    public static let writable = Readiness(rawValue: 2)
}
