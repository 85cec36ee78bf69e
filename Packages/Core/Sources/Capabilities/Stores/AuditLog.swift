public import JSON

/// A log of what was done and by whom, which nobody can change without that being noticed.
///
/// ```swift
/// let number = try await log.record(AuditEntry(actor: "model", action: "tool.call", subject: "write"))
/// let result = await write()                       // only what was recorded is done
/// try await log.complete(number, AuditCompletion(outcome: "done"))
/// ```
///
/// All programs of this machine write into the same log. Secrets are removed from everything that is stored, and large
/// details are shortened.
public protocol AuditLog: AnyObject, Sendable {
    /// Stores all lines or none, in this order. It also works in a cancelled task.
    ///
    /// - Returns: the numbers of the entries among them.
    /// - Throws: if they could not be stored. What the entries tell of must not be done then.
    @discardableResult
    func append(_ lines: [AuditLine]) async throws -> [Int]

    /// Entries, newest first.
    func entries(_ query: AuditQuery) async throws -> AuditPage

    /// Takes over entries from a log of before, with their times. Entries that it has already taken from there are
    /// skipped, so that this can be repeated after a crash and by several programs.
    ///
    /// - Parameters:
    ///   - entries: with the numbers that they have there, in ascending order.
    ///   - origin: the name of that log.
    /// - Returns: the newest number of that log that is stored here; 0 for none.
    func takeOver(_ entries: [AuditEntry], from origin: String) async throws -> Int

    /// Compares the whole log with what was written.
    func verify() async throws -> AuditVerdict

    /// The conversations of whose content the log still has something.
    func places() async throws -> [AuditPlace]

    /// Removes content of conversations from the log and from its files, and records that. What was done remains.
    ///
    /// - Returns: the number of entries that had content.
    /// - Throws: if another program has the log open, which could still hold the content.
    @discardableResult
    func eraseContent(of places: [AuditPlace]) async throws -> Int
}

extension AuditLog {
    /// Stores an entry and returns its number. It also works in a cancelled task.
    ///
    /// - Throws: if the entry could not be stored. What it tells of must not be done then.
    @discardableResult
    public func record(_ entry: AuditEntry) async throws -> Int { try await append([.entry(entry)])[0] }

    /// Adds to an entry how it ended. It also works in a cancelled task.
    public func complete(_ number: Int, _ completion: AuditCompletion) async throws {
        try await append([.end(of: number, completion)])
    }
}

/// What is added to the audit log.
public enum AuditLine: Sendable, Hashable {
    /// Something that is about to be done, or was done or refused.
    case entry(AuditEntry)
    /// How something ended that an entry with this number tells of.
    case end(of: Int, AuditCompletion)
}

/// A conversation as the audit log knows it.
public enum AuditPlace: Sendable, Hashable {
    /// A session of a gateway, by its id.
    case session(String)
    /// A conversation of Chat, by its id.
    case conversation(String)
}

/// An action in the audit log, done or refused.
public struct AuditEntry: Sendable, Hashable {
    /// The number of the entry; nil until it is stored. Newer entries have larger numbers.
    public var number: Int?
    /// The time it was stored; nil before.
    public var time: Timestamp?
    /// The id of the project; nil outside of any.
    public var project: String?
    /// The id of the session; nil outside of any.
    public var session: String?
    /// The id of the conversation in Chat; nil outside of any.
    public var conversation: String?
    /// Who acted: `model`, `client` or `gateway`.
    public var actor: String
    /// What was done, such as `tool.call` or `turn.stopped`.
    public var action: String
    /// The source of the tool, which identifies it together with the subject; nil for what is no tool.
    public var source: String?
    /// What it was done to, such as a tool's name.
    public var subject: String?
    /// What was decided about it, and by whom.
    public var decision: String?
    /// The rule that decided; nil if none did.
    public var rule: String?
    /// How it ended, such as `done`, `failed` or `denied`. Nil while it lasts, if the program ended before it did, and
    /// for what has no end.
    public var outcome: String?
    /// More details. Only the beginning of large details is kept.
    public var detail: JSON
    /// The log from which it was taken over; nil if it was recorded in this one.
    public var origin: String?

    /// An entry to be stored, which gives it a number and a time.
    public init(
        project: String? = nil, session: String? = nil, conversation: String? = nil, actor: String, action: String,
        source: String? = nil, subject: String? = nil, decision: String? = nil, rule: String? = nil,
        outcome: String? = nil, detail: JSON = .null
    ) {
        self.project = project
        self.session = session
        self.conversation = conversation
        self.actor = actor
        self.action = action
        self.source = source
        self.subject = subject
        self.decision = decision
        self.rule = rule
        self.outcome = outcome
        self.detail = detail
    }

    /// The members of `detail` that may hold what people or models wrote. They are removed with the conversation.
    public static let contentMembers: Set = ["input", "message", "beginning", "bytes"]
}

/// How something in the audit log ended.
public struct AuditCompletion: Sendable, Hashable {
    /// Such as `done`, `failed` or `denied`.
    public var outcome: String
    /// Added to the details of the entry.
    public var detail: JSONObject

    /// By default there are no further details.
    public init(outcome: String, detail: JSONObject = [:]) {
        self.outcome = outcome
        self.detail = detail
    }
}

/// Which entries of the audit log to list. By default the newest of all.
public struct AuditQuery: PagedQuery, Hashable {
    /// Only entries of this project.
    public var project: String?
    /// Only entries of this session.
    public var session: String?
    /// Only entries of this conversation in Chat.
    public var conversation: String?
    /// Only what this party did.
    public var actor: String?
    /// Only this action, such as `tool.call`.
    public var action: String?
    /// Only entries since this time.
    public var since: Timestamp?
    /// Only entries before this time.
    public var until: Timestamp?
    /// How many entries to skip.
    public var offset = 0
    /// The maximum number of entries.
    public var limit: Int

    /// Matches all entries.
    public init(project: String? = nil, session: String? = nil, limit: Int = 50) {
        self.project = project
        self.session = session
        self.limit = limit
    }
}

/// Some entries of the audit log.
public struct AuditPage: Sendable, Hashable {
    /// The entries of this page, newest first.
    public var entries: [AuditEntry]
    /// The number of entries on all pages.
    public var total: Int

    /// A page out of `total` entries.
    public init(entries: [AuditEntry], total: Int) {
        self.entries = entries
        self.total = total
    }
}
