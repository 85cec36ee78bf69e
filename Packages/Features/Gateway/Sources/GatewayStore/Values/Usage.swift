public import Capabilities

/// What one answer took.
public struct UsageEntry: Sendable, Hashable {
    public var project: String?
    public var session: String?
    /// Who asked, as the gateway knows them.
    public var client: String?
    public var provider: String
    public var model: String
    public var usage: Usage

    public init(
        project: String? = nil, session: String? = nil, client: String? = nil, provider: String, model: String,
        usage: Usage
    ) {
        self.project = project
        self.session = session
        self.client = client
        self.provider = provider
        self.model = model
        self.usage = usage
    }
}

/// What sums are made for.
public enum UsageGroup: String, Choice, Hashable {
    /// Each answer for itself.
    case message
    case session, project, client, model, day
}

/// Which answers count. What is nil does not matter.
public struct UsageFilter: Sendable, Hashable {
    public var session: String?
    public var project: String?
    public var client: String?
    public var provider: String?
    public var model: String?
    /// The first and the last day.
    public var from: Day?
    public var through: Day?

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

/// What some answers took together, exactly.
public struct UsageSum: Sendable, Hashable {
    /// What it is the sum of: an id, a name, `PROVIDER/MODEL`, or a day. Nil for what belongs to none, such as an answer without
    /// a session, and for the sum of everything.
    public let key: String?
    public let answers: Int
    /// What is known; nil where no answer told.
    public let usage: Usage
    /// How many answers have a cost that nobody knows, so that the true cost is higher.
    public let unpriced: Int

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

    /// With what is stored nowhere yet.
    static func + (sum: UsageSum, more: Usage) -> UsageSum {
        UsageSum(key: sum.key, answers: sum.answers, usage: sum.usage + more, unpriced: sum.unpriced)
    }
}
