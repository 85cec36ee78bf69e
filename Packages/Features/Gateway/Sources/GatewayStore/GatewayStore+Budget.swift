public import Capabilities
import StorageKit

extension GatewayStore {
    /// The state of the limits that apply to a turn: those of its project and session, that of the client's token, and
    /// the given daily limit for everything. Without a project, that of the session is used.
    ///
    /// - Parameters:
    ///   - client: The client that asks; a client without its own token has no limit.
    ///   - unstored: Usage that is not stored yet but counts too.
    public func checkBudget(
        session: String? = nil, project: String? = nil, client: String? = nil,
        day limit: BudgetLimit = BudgetLimit(), unstored: Usage = Usage()
    ) async throws -> BudgetState {
        let today = Day(now())
        return try await database.read { connection in
            var project = project
            if let session, project == nil {
                project = try connection.project(ofSession: session)
            }
            let budget = try project.map { try connection.project($0).budget } ?? ProjectBudget()
            var lines: [BudgetState.Line] = []
            if let session, !budget.session.isEmpty {
                let used = try connection.usage(ofSession: session) + unstored
                lines.append(BudgetState.Line(scope: .session, limit: budget.session, used: used))
            }
            if let project, !budget.project.isEmpty {
                let used = try connection.usage(ofProject: project) + unstored
                lines.append(BudgetState.Line(scope: .project, limit: budget.project, used: used))
            }
            if let client, let budget = try connection.budget(ofClient: client), !budget.isEmpty {
                let used = try connection.usage(ofClient: client, on: today) + unstored
                lines.append(BudgetState.Line(scope: .client, limit: budget, used: used))
            }
            if !limit.isEmpty {
                let used = try connection.usage(of: today) + unstored
                lines.append(BudgetState.Line(scope: .day, limit: limit, used: used))
            }
            return BudgetState(lines: lines)
        }
    }
}

extension Connection {
    /// The project of a session; nil if it has none. Throws if there is no such session.
    func project(ofSession id: String) throws -> String? {
        let found: String?? = try first("SELECT project FROM sessions WHERE id = ?", id) { row in try row[0] }
        guard let project = found else { throw GatewayStoreError.noSession(id) }
        return project
    }
}

/// A limit on usage. Nil means no limit.
public struct BudgetLimit: Sendable, Hashable {
    /// The number of tokens, read and written.
    public var tokens: Int?
    /// The cost. Answers with unknown cost do not count towards it.
    public var cost: Cost?

    /// Without arguments it limits nothing.
    public init(tokens: Int? = nil, cost: Cost? = nil) {
        self.tokens = tokens
        self.cost = cost
    }

    /// Whether nothing is limited.
    public var isEmpty: Bool { tokens == nil && cost == nil }
}

/// The limits on the usage of a project and its sessions.
public struct ProjectBudget: Sendable, Hashable {
    /// For the whole project, over its lifetime.
    public var project: BudgetLimit
    /// For each of its sessions.
    public var session: BudgetLimit

    /// Without arguments it limits nothing.
    public init(project: BudgetLimit = BudgetLimit(), session: BudgetLimit = BudgetLimit()) {
        self.project = project
        self.session = session
    }
}

/// The state of the limits that apply to a turn.
public struct BudgetState: Sendable, Hashable {
    /// One limit and the usage that counts towards it.
    public struct Line: Sendable, Hashable {
        /// What the limit is for.
        public let scope: Scope
        /// The limit itself.
        public let limit: BudgetLimit
        /// The usage so far; for a daily limit, that of today in UTC.
        public let used: UsageSum

        /// A limit with the usage that counts towards it.
        public init(scope: Scope, limit: BudgetLimit, used: UsageSum) {
            self.scope = scope
            self.limit = limit
            self.used = used
        }

        /// What a limit can be for.
        public enum Scope: String, Choice, Hashable {
            case session, project
            /// The daily limit of a client's token.
            case client
            case day

            /// Whether it resets with the next day.
            public var isDaily: Bool { self == .client || self == .day }
        }

        var isSpent: Bool { remainingTokens == 0 || remainingCost?.nanodollars == 0 }

        /// The remaining tokens, at least 0; nil without a limit on tokens.
        public var remainingTokens: Int? { limit.tokens.map { max(0, $0 - (used.tokens ?? 0)) } }

        /// The remaining cost. Answers with unknown cost do not count.
        public var remainingCost: Cost? {
            limit.cost.map { Cost(nanodollars: max(0, $0.nanodollars - (used.usage.cost?.nanodollars ?? 0))) }
        }
    }

    /// The limits that are set, the narrowest first.
    public let lines: [Line]

    /// The first limit that is used up.
    public var spent: Line? { lines.first(where: \.isSpent) }
    /// The tokens that the tightest limit leaves; nil without a limit.
    public var remainingTokens: Int? { lines.compactMap(\.remainingTokens).min() }
    /// The cost that the tightest limit leaves; nil without a limit.
    public var remainingCost: Cost? {
        lines.compactMap { $0.remainingCost?.nanodollars }.min().map(Cost.init(nanodollars:))
    }
}

extension BudgetState.Line {
    /// A message that says what is used up and what to do, without a final stop.
    public var message: String {
        let (whose, remedy) =
            switch scope {
            case .session: ("this session", "start another session, or raise the project's limit for sessions")
            case .project: ("this project", "raise its limit")
            case .client:
                (
                    "the token \(PlainText.escape(used.key ?? "").quotedForMessage) today",
                    "retry tomorrow, or create a token with a higher limit"
                )
            case .day: ("today", "retry tomorrow, or raise the daily limit")
            }
        let amount =
            remainingTokens == 0
            ? "\(used.tokens ?? 0) of \(limit.tokens ?? 0) tokens"
            : "\((used.usage.cost ?? Cost(nanodollars: 0)).dollars) of \((limit.cost ?? Cost(nanodollars: 0)).dollars)"
        return "the budget for \(whose) is used up (\(amount)); \(remedy)"
    }
}

extension Cost {
    /// Such as `$1.2500`.
    fileprivate var dollars: String {
        let parts = String((nanodollars.magnitude + 50_000) / 100_000)
        let digits = String(repeating: "0", count: max(0, 5 - parts.count)) + parts
        return "\(nanodollars < 0 ? "-" : "")$\(digits.dropLast(4)).\(digits.suffix(4))"
    }
}
