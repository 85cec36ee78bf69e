/// What to group sums by.
public enum UsageGroup: String, Choice, Hashable {
    /// One sum for each answer.
    case message
    case session, project, client, model, day
}

/// Which answers count. Nil matches any value.
public struct UsageFilter: Sendable, Hashable {
    /// The id of the session.
    public var session: String?
    /// The id of the project.
    public var project: String?
    /// The client's name.
    public var client: String?
    /// The id of the provider.
    public var provider: String?
    /// The model's id at its provider.
    public var model: String?
    /// The first day, inclusive.
    public var from: Day?
    /// The last day, inclusive.
    public var through: Day?

    /// Without arguments it matches every answer.
    public init(
        session: String? = nil, project: String? = nil, client: String? = nil, provider: String? = nil,
        model: String? = nil, from: Day? = nil, through: Day? = nil
    ) {
        self.session = session
        self.project = project
        self.client = client
        self.provider = provider
        self.model = model
        self.from = from
        self.through = through
    }
}

/// The exact sum of the usage of some answers.
public struct UsageSum: Sendable, Hashable {
    /// The group: an id, a name, `PROVIDER/MODEL`, or a day. Nil for answers outside any group, such as one without a
    /// session, and for the sum of everything.
    public let key: String?
    /// The number of answers.
    public let answers: Int
    /// The known usage; values are nil if no answer reported them.
    public let usage: Usage
    /// The number of answers with unknown cost, so that the true cost is higher.
    public let unpriced: Int

    /// Without arguments it is the sum of no answers.
    public init(key: String? = nil, answers: Int = 0, usage: Usage = Usage(), unpriced: Int = 0) {
        self.key = key
        self.answers = answers
        self.usage = usage
        self.unpriced = unpriced
    }

    /// All tokens, read and written.
    public var tokens: Int? {
        usage.inputTokens == nil && usage.outputTokens == nil
            ? nil : (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
    }
}

/// A day in UTC.
public struct Day: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Days since 1970-01-01.
    public let number: Int

    private static let length: Int64 = 86_400_000_000

    /// The day that contains a time.
    public init(_ time: Timestamp) {
        let (days, rest) = time.microseconds.quotientAndRemainder(dividingBy: Self.length)
        number = Int(rest < 0 ? days - 1 : days)
    }

    /// Reads a day such as `2026-11-21`.
    public init?(_ text: String) {
        guard text.utf8.count == 10, let time = Timestamp(iso8601: "\(text)T00:00:00Z") else { return nil }
        self.init(time)
    }

    /// The time from a moment until the next day; never zero.
    public static func rest(after time: Timestamp) -> Duration {
        let rest = time.microseconds % length
        return .microseconds(rest < 0 ? -rest : length - rest)
    }

    /// The day that many days after 1970-01-01.
    public init(number: Int) {
        self.number = number
    }

    public var description: String {
        // Days of valid timestamps do not overflow; a number from a damaged row must not crash the program.
        let start = Int64(number).multipliedReportingOverflow(by: Self.length).partialValue
        return String(Timestamp(microseconds: start).iso8601.prefix { $0 != "T" })
    }

    public static func < (left: Day, right: Day) -> Bool { left.number < right.number }
}
