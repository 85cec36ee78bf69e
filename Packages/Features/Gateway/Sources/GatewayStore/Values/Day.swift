public import Capabilities

/// A whole day of UTC.
public struct Day: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Days since 1970-01-01.
    public let number: Int

    private static let length: Int64 = 86_400_000_000

    /// The day of a moment.
    public init(_ time: Timestamp) {
        let (days, rest) = time.microseconds.quotientAndRemainder(dividingBy: Self.length)
        number = Int(rest < 0 ? days - 1 : days)
    }

    /// Reads a day such as `2026-11-21`.
    public init?(_ text: String) {
        guard text.utf8.count == 10, let time = Timestamp(iso8601: "\(text)T00:00:00Z") else { return nil }
        self.init(time)
    }

    /// How long it is from a moment until the next day begins; never nothing.
    public static func rest(after time: Timestamp) -> Duration {
        let rest = time.microseconds % length
        return .microseconds(rest < 0 ? -rest : length - rest)
    }

    init(number: Int) {
        self.number = number
    }

    public var description: String {
        // The days of all moments fit; a number from a damaged row must not end the program.
        let start = Int64(number).multipliedReportingOverflow(by: Self.length).partialValue
        return String(Timestamp(microseconds: start).iso8601.prefix { $0 != "T" })
    }

    public static func < (left: Day, right: Day) -> Bool { left.number < right.number }
}
