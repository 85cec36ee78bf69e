public import Capabilities
public import JSON
import StorageKit

extension GatewayStore {
    /// Notes who did what. It works in a task that was cancelled, too.
    public func audit(_ entry: AuditEntry) async throws {
        let time = now()
        let detail = Self.shortened(redactor?.kept(entry.detail) ?? entry.detail)
        let subject = entry.subject.map(kept)
        _ = try await finish { connection in
            try connection.run(
                """
                INSERT INTO audit (time, project, session, actor, action, subject, decision, detail)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                time, entry.project, entry.session, entry.actor, entry.action, subject, entry.decision,
                Written(detail))
        }
    }

    /// The newest first.
    public func auditEntries(
        session: String? = nil, project: String? = nil, page: PageRequest = PageRequest()
    ) async throws -> Page<AuditEntry> {
        let condition = Self.auditCondition(session: session, project: project)
        return try await database.read { connection in
            let total = try connection.first("SELECT count(*) FROM audit" + condition, session, project) { row in
                try row[0] as Int
            }
            let entries = try connection.all(
                Self.auditColumns + condition + " ORDER BY id DESC LIMIT ?3 OFFSET ?4", session, project, page.size,
                page.offset
            ) { row in
                let detail: Written<JSON> = try row[8]
                var entry = AuditEntry(
                    project: try row[2], session: try row[3], actor: try row[4], action: try row[5],
                    subject: try row[6], decision: try row[7], detail: detail.value)
                (entry.number, entry.time) = (try row[0], try row[1])
                return entry
            }
            return Page(items: entries, request: page, total: total ?? 0)
        }
    }

    static let auditColumns: SQL =
        "SELECT id, time, project, session, actor, action, subject, decision, detail FROM audit"

    static func auditCondition(session: String?, project: String?) -> SQL {
        let condition: SQL = session == nil ? " WHERE ?1 IS NULL" : " WHERE session = ?1"
        let rest: SQL = project == nil ? " AND ?2 IS NULL" : " AND project = ?2"
        return condition + rest
    }

    /// A log of files that a model has written would soon be larger than the files.
    private static let largestDetail = 16 << 10

    private static func shortened(_ detail: JSON) -> JSON {
        let text = detail.text()
        let size = text.utf8.count
        guard size > largestDetail else { return detail }
        // An index in the middle of a character is taken as its beginning.
        let end = text.utf8.index(text.startIndex, offsetBy: largestDetail)
        return ["beginning": .string(String(text[..<end])), "bytes": .int(size)]
    }
}

/// Something that somebody did or was refused.
public struct AuditEntry: Sendable, Hashable {
    /// What it is called; nil until it is stored. Newer ones have larger numbers.
    public var number: Int?
    /// When it was stored; nil before.
    public var time: Timestamp?
    public var project: String?
    public var session: String?
    /// Who: `model`, `client`, `gateway`.
    public var actor: String
    /// What was done, as a dotted word such as `tool.call` or `turn.stopped`.
    public var action: String
    /// What it was done to, such as a tool's name.
    public var subject: String?
    /// What was decided about it, and by whom, in a word.
    public var decision: String?
    /// What else is known. Only the beginning of a large one is kept.
    public var detail: JSON

    public init(
        project: String? = nil, session: String? = nil, actor: String, action: String, subject: String? = nil,
        decision: String? = nil, detail: JSON = .null
    ) {
        self.project = project
        self.session = session
        self.actor = actor
        self.action = action
        self.subject = subject
        self.decision = decision
        self.detail = detail
    }
}
