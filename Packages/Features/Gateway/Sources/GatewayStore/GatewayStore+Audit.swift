public import Capabilities
import JSON
import StorageKit
import Synchronization
public import TurnLoop

extension GatewayStore {
    /// Records an entry in the audit log, if there is one. It also works in a cancelled task.
    public func audit(_ entry: AuditEntry) async throws {
        guard let log = findAudit() else { return }
        try await takeOverAudit(by: log)
        var entry = entry
        if isPassing {
            (entry.project, entry.session) = (nil, nil)
            if var detail = entry.detail.object {
                for name in AuditEntry.contentMembers { detail[name] = nil }
                entry.detail = .object(detail)
            }
        }
        try await log.record(entry)
    }

    /// Entries of the audit log, newest first; nil if there is no such log.
    public func auditEntries(
        session: String? = nil, project: String? = nil, page: PageRequest = PageRequest()
    ) async throws -> Page<AuditEntry>? {
        guard let log = findAudit() else { return nil }
        try await takeOverAudit(by: log)
        var query = AuditQuery(project: project, session: session, limit: page.size)
        query.offset = page.offset
        let found = try await log.entries(query)
        return Page(items: found.entries, request: page, total: found.total)
    }

    /// Whether what is done is recorded.
    public var hasAudit: Bool { findAudit() != nil }

    /// How the calls of a session are recorded; nil if there is no audit log.
    ///
    /// - Parameter hasReads: whether calls that only read are recorded too.
    public func callAudit(
        session: String, project: String?, client: String?, hasReads: Bool
    ) async -> CallAudit? {
        guard let log = findAudit() else { return nil }
        // If that fails, so does what is recorded next, which says why.
        do { try await takeOverAudit(by: log) } catch {}
        var audit = CallAudit(log)
        audit.person = "client"
        audit.client = client
        audit.hasReads = hasReads
        audit.hasInput = !isPassing
        if !isPassing { (audit.session, audit.project) = (session, project) }
        return audit
    }
}

// MARK: The table of before

extension GatewayStore {
    /// The name of the table's entries in the audit log.
    static let auditOrigin = "gateway.db"
    private static let auditBatch = 500

    /// Moves the entries of the table that this database had before into the audit log. An entry leaves the table only
    /// when the log has it, so that a crash loses and doubles none.
    private func takeOverAudit(by log: any AuditLog) async throws {
        guard !hasTakenOver.load(ordering: .acquiring), !isPassing else { return }
        try await shielded { [self] in
            while true {
                let known = try await log.takeOver([], from: Self.auditOrigin)
                let entries = try await database.read { try $0.auditEntries(after: known, limit: Self.auditBatch) }
                if entries.isEmpty {
                    _ = try await database.write { try $0.run("DELETE FROM audit WHERE id <= ?", known) }
                    break
                }
                _ = try await log.takeOver(entries, from: Self.auditOrigin)
            }
        }
        hasTakenOver.store(true, ordering: .releasing)
    }

    /// Removes content of sessions that no longer exist from the audit log. Returns the number of changed entries.
    public func blankAudit() async throws -> Int {
        let own = try await database.write { connection in
            try connection.run(
                Self.blankAudit + """
                     WHERE session IS NOT NULL AND json_remove(detail, '$.input', '$.beginning', '$.message') != detail
                        AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = audit.session)
                    """)
        }
        guard let log = findAudit() else { return own }
        try await takeOverAudit(by: log)
        let ids = try await log.places().compactMap { place in if case .session(let id) = place { id } else { nil } }
        let gone = try await database.read { connection in
            try ids.filter { id in
                try connection.first("SELECT 1 FROM sessions WHERE id = ?", id) { _ in true } == nil
            }
        }
        return own + (try await log.eraseContent(of: gone.map(AuditPlace.session)))
    }

    /// Removes content of these sessions from the audit log.
    func eraseAudit(of sessions: [String]) async throws {
        guard let log = findAudit() else { return }
        try await takeOverAudit(by: log)
        try await log.eraseContent(of: sessions.map(AuditPlace.session))
    }

    /// The input of a tool may contain what a user wrote.
    static let blankAudit: SQL =
        "UPDATE audit SET detail = json_remove(detail, '$.input', '$.beginning', '$.message')"
}

extension Connection {
    fileprivate func auditEntries(after number: Int, limit: Int) throws -> [AuditEntry] {
        try all(
            """
            SELECT id, time, project, session, actor, action, subject, decision, detail FROM audit
                WHERE id > ? ORDER BY id LIMIT ?
            """, number, limit
        ) { row in
            let detail: Written<JSON> = try row[8]
            var entry = AuditEntry(
                project: try row[2], session: try row[3], actor: try row[4], action: try row[5],
                source: detail.value["source"]?.string, subject: try row[6], decision: try row[7],
                outcome: detail.value["state"]?.string, detail: detail.value)
            (entry.number, entry.time) = (try row[0], try row[1])
            return entry
        }
    }
}
