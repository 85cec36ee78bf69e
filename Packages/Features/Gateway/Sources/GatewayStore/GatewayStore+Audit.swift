public import Capabilities
import JSON
import StorageKit

extension GatewayStore {
    /// Adds an entry to the audit log. It also works in a cancelled task.
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

    /// Entries of the audit log, newest first.
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

    /// Limits entries, or a log of written files would soon be larger than the files.
    private static let largestDetail = 16 << 10

    private static func shortened(_ detail: JSON) -> JSON {
        let text = detail.text()
        let size = text.utf8.count
        guard size > largestDetail else { return detail }
        // Slicing rounds an index inside a character down to its start.
        let end = text.utf8.index(text.startIndex, offsetBy: largestDetail)
        return ["beginning": .string(String(text[..<end])), "bytes": .int(size)]
    }
}
