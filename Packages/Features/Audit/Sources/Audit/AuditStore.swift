public import Capabilities
import Cryptography
import FileKit
import JSON
import StorageKit

/// The audit log in the database `audit.db`, into which all programs of this user write.
///
/// A transaction takes the write lock, reads the end of the log, and adds the next row with its digest and its seal, so
/// that rows of different programs never get the same number or the same predecessor.
public final class AuditStore: AuditLog {
    /// Entries of several programs wait for each other at most this long. The call that is to be recorded is denied then.
    static let lockLimit = Duration.seconds(10)

    let database: Database
    private let key: SealKey?
    private let redactor: Redactor
    private let now: @Sendable () -> Timestamp

    /// - Parameter key: nil for a log without seals.
    init(_ database: Database, key: SealKey?, without redactor: Redactor, now: @escaping @Sendable () -> Timestamp) {
        self.database = database
        self.key = key
        self.redactor = redactor
        self.now = now
    }

    /// The database in a file.
    static func database(
        at path: String, lockLimit: Duration = AuditStore.lockLimit,
        notice: @escaping @Sendable (StorageNotice) -> Void = { $0.tell(nil) }
    ) -> Database {
        Database(path, migrations: migrations, durability: .normal, busyLimit: lockLimit, notice: notice)
    }

    func close() async { await database.close() }
}

// MARK: Writing

extension AuditStore {
    @discardableResult
    public func append(_ lines: [AuditLine]) async throws -> [Int] {
        let records = try lines.map { line in
            switch line {
            case .entry(let entry): try AuditRecord(entry, at: now(), without: redactor)
            case .end(let number, let completion):
                AuditRecord(completion, of: number, at: now(), without: redactor)
            }
        }
        return try await appending { _, append in
            var numbers: [Int] = []
            for record in records {
                let number = try append(record)
                if record.completes == nil { numbers.append(number) }
            }
            return numbers
        }
    }

    public func takeOver(_ entries: [AuditEntry], from origin: String) async throws -> Int {
        let records = try entries.compactMap { entry -> AuditRecord? in
            guard let number = entry.number else { return nil }
            var record = try AuditRecord(entry, at: entry.time ?? now(), without: redactor)
            (record.origin, record.originNumber) = (origin, number)
            return record
        }
        return try await appending { connection, append in
            let known = try connection.newestTaken(from: origin)
            for record in records where (record.originNumber ?? 0) > known { _ = try append(record) }
            return try connection.newestTaken(from: origin)
        }
    }

    /// Adds rows in one transaction, which a cancelled task does not stop.
    private func appending<Value: Sendable>(
        _ body: @escaping @Sendable (Connection, _ append: (AuditRecord) throws -> Int) throws -> Value
    ) async throws -> Value {
        try await shielded { [self] in
            let key = await key?.quiet { await self.hasNoSeal() }
            return try await database.write { connection in
                var end = try connection.auditEnd()
                let (last, newest) = (end.number, try connection.newestNumber())
                let value = try body(connection) { record in
                    // A row that somebody has inserted behind the end must not keep others from being written; the check
                    // reports it.
                    try connection.append(record, as: max(end.number, newest) + 1, to: &end, sealedWith: key)
                    return end.number
                }
                if let key, end.number > last { try end.seal(with: key) }
                try connection.set(end)
                return value
            }
        }
    }

    private func hasNoSeal() async -> Bool {
        do { return try await database.read { try $0.auditEnd().sealed == nil } } catch { return false }
    }

    /// Seals the log with the key in the vault, which is created if there is none.
    ///
    /// - Throws: `AuditError` if the log has seals of a key that is no longer there.
    func seal() async throws -> Int {
        guard let key else { throw AuditError.noKey }
        if try await key.find() == nil {
            guard await hasNoSeal() else { throw AuditError.noKey }
            _ = try await key.create()
        }
        return try await record(AuditEntry(actor: "owner", action: "audit.sealed"))
    }
}

extension AuditStore {
    public func places() async throws -> [AuditPlace] {
        guard Files.exists(database.path) else { return [] }
        return try await database.read { connection in
            let found = try connection.all(
                "SELECT DISTINCT session, conversation FROM entries WHERE content IS NOT NULL"
            ) { row -> [AuditPlace] in
                let (session, conversation): (String?, String?) = (try row[0], try row[1])
                return [session.map(AuditPlace.session), conversation.map(AuditPlace.conversation)].compactMap(\.self)
            }
            return found.flatMap(\.self)
        }
    }

    @discardableResult
    public func eraseContent(of places: [AuditPlace]) async throws -> Int {
        let known = Set(try await self.places())
        let places = places.filter(known.contains)
        guard !places.isEmpty else { return 0 }
        try await database.requireAlone()
        let (time, redactor) = (now(), redactor)
        let count = try await appending { connection, append in
            var total = 0
            for place in places {
                let (session, conversation) = place.ids
                let count = try connection.run(
                    """
                    UPDATE entries SET content = NULL, salt = NULL
                        WHERE content IS NOT NULL AND (session = ?1 OR conversation = ?2)
                    """, session, conversation)
                guard count > 0 else { continue }
                total += count
                let entry = AuditEntry(
                    session: session, conversation: conversation, actor: "owner", action: erasing,
                    detail: ["entries": .int(count)])
                _ = try append(try AuditRecord(entry, at: time, without: redactor))
            }
            return total
        }
        try await database.erase()
        return count
    }
}

/// The action of the entries that say that content was removed.
let erasing = "audit.content-erased"

extension AuditPlace {
    var ids: (session: String?, conversation: String?) {
        switch self {
        case .session(let id): (id, nil)
        case .conversation(let id): (nil, id)
        }
    }
}

// MARK: Reading

extension AuditStore {
    public func entries(_ query: AuditQuery) async throws -> AuditPage {
        guard Files.exists(database.path) else { return AuditPage(entries: [], total: 0) }
        let condition = Self.condition(query)
        return try await database.read { connection in
            let total = try connection.first(
                "SELECT count(*) FROM entries AS e" + condition, query.project, query.session, query.conversation,
                query.actor, query.action, query.since, query.until
            ) { row in try row[0] as Int }
            let entries = try connection.all(
                Self.listing + condition + " ORDER BY e.number DESC LIMIT ?8 OFFSET ?9", query.project, query.session,
                query.conversation, query.actor, query.action, query.since, query.until, max(0, query.limit),
                max(0, query.offset)
            ) { row in
                var record = try AuditRecord(row)
                if let outcome: String = try row[20] { record.outcome = outcome }
                return try record.entry(adding: row[21])
            }
            return AuditPage(entries: entries, total: total ?? 0)
        }
    }

    /// The columns in the order of `AuditRecord.init(_:)`.
    static let columns: SQL = """
        e.number, e.time, e.completes, e.origin, e.origin_number, e.project, e.session, e.conversation, e.actor,
            e.action, e.source, e.subject, e.decision, e.rule, e.outcome, e.detail, e.content_digest, e.salt, e.content,
            e.digest
        """

    private static let listing: SQL =
        "SELECT " + columns
        + ", c.outcome, c.detail FROM entries AS e LEFT JOIN entries AS c ON c.completes = e.number"

    /// Only the conditions that are asked for, so that their indexes are used. Each value has a fixed place.
    private static func condition(_ query: AuditQuery) -> SQL {
        var condition: SQL = " WHERE e.completes IS NULL"
        condition = condition + (query.project == nil ? " AND ?1 IS NULL" : " AND e.project = ?1")
        condition = condition + (query.session == nil ? " AND ?2 IS NULL" : " AND e.session = ?2")
        condition = condition + (query.conversation == nil ? " AND ?3 IS NULL" : " AND e.conversation = ?3")
        condition = condition + (query.actor == nil ? " AND ?4 IS NULL" : " AND e.actor = ?4")
        condition = condition + (query.action == nil ? " AND ?5 IS NULL" : " AND e.action = ?5")
        condition = condition + (query.since == nil ? " AND ?6 IS NULL" : " AND e.time >= ?6")
        return condition + (query.until == nil ? " AND ?7 IS NULL" : " AND e.time < ?7")
    }

    public func verify() async throws -> AuditVerdict {
        // A person is there to open the vault; without one, the seals cannot be checked.
        let key: SecretBytes?
        do { key = try await self.key?.find() } catch { key = nil }
        return try await verify(with: key)
    }

    func verify(with key: SecretBytes?) async throws -> AuditVerdict {
        guard Files.exists(database.path) else { return AuditVerdict() }
        return try await database.read { connection in
            var check = AuditCheck(try connection.auditEnd(), key: key)
            let sql = "SELECT " + Self.columns + ", e.seal FROM entries AS e ORDER BY e.number"
            try connection.forEach(sql) { row in
                try check.take(try AuditRecord(row), digest: row[19], seal: row[20])
            }
            return try check.verdict()
        }
    }
}

// MARK: Rows

extension AuditRecord {
    init(_ row: borrowing Row) throws {
        (number, time, completes) = (try row[0], try row[1], try row[2])
        (origin, originNumber) = (try row[3], try row[4])
        (project, session, conversation) = (try row[5], try row[6], try row[7])
        (actor, action, source, subject) = (try row[8], try row[9], try row[10], try row[11])
        (decision, rule, outcome, detail) = (try row[12], try row[13], try row[14], try row[15])
        if let digest: [UInt8] = try row[16] { content = Content(digest: digest, salt: try row[17], text: try row[18]) }
    }
}

extension Connection {
    func auditEnd() throws -> AuditEnd {
        let end = try first("SELECT log, number, digest, sealed, seal FROM log_end") { row in
            AuditEnd(log: try row[0], number: try row[1], digest: try row[2], sealed: try row[3], seal: try row[4])
        }
        guard var end else { throw AuditError.noEnd(path) }
        if end.number == 0 { end.digest = AuditChain(log: end.log).start }
        return end
    }

    fileprivate func newestTaken(from origin: String) throws -> Int {
        try first("SELECT coalesce(max(origin_number), 0) FROM entries WHERE origin = ?", origin) { row in try row[0] }
            ?? 0
    }

    fileprivate func set(_ end: AuditEnd) throws {
        try run(
            "UPDATE log_end SET number = ?, digest = ?, sealed = ?, seal = ?", end.number, end.digest, end.sealed,
            end.seal)
    }

    fileprivate func newestNumber() throws -> Int {
        try first("SELECT coalesce(max(number), 0) FROM entries") { row in try row[0] } ?? 0
    }

    /// Adds a row after the end, with its digest, and with a seal if there is a key.
    fileprivate func append(
        _ record: AuditRecord, as number: Int, to end: inout AuditEnd, sealedWith key: SecretBytes?
    ) throws {
        let chain = AuditChain(log: end.log)
        var record = record
        record.number = number
        let digest = chain.digest(of: record, after: end.digest)
        let seal = try key.map { try chain.seal(record.number, digest, $0) }
        let content = record.content
        try run(
            """
            INSERT INTO entries (number, time, completes, origin, origin_number, project, session, conversation, actor,
                action, source, subject, decision, rule, outcome, detail, content_digest, salt, content, digest, seal)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            record.number, record.time, record.completes, record.origin, record.originNumber, record.project,
            record.session, record.conversation, record.actor, record.action, record.source, record.subject,
            record.decision, record.rule, record.outcome, record.detail, content?.digest, content?.salt, content?.text,
            digest, seal)
        (end.number, end.digest) = (record.number, digest)
    }
}

extension AuditStore {
    /// The migrations. Never change a released migration; add a new one.
    static let migrations = [
        Migration(
            "audit",
            """
            CREATE TABLE entries (
                number INTEGER PRIMARY KEY, time INTEGER NOT NULL, completes INTEGER, origin TEXT, origin_number INTEGER,
                project TEXT, session TEXT, conversation TEXT, actor TEXT NOT NULL, action TEXT NOT NULL, source TEXT,
                subject TEXT, decision TEXT, rule TEXT, outcome TEXT, detail TEXT NOT NULL, content_digest BLOB,
                salt BLOB, content TEXT, digest BLOB NOT NULL, seal BLOB) STRICT;
            CREATE UNIQUE INDEX entries_completes ON entries (completes);
            CREATE UNIQUE INDEX entries_origin ON entries (origin, origin_number) WHERE origin IS NOT NULL;
            CREATE INDEX entries_project ON entries (project, number) WHERE project IS NOT NULL;
            CREATE INDEX entries_session ON entries (session, number) WHERE session IS NOT NULL;
            CREATE INDEX entries_conversation ON entries (conversation, number) WHERE conversation IS NOT NULL;
            CREATE INDEX entries_time ON entries (time);

            -- The end of the chain, apart from the rows, so that rows that are missing there are noticed.
            CREATE TABLE log_end (
                id INTEGER PRIMARY KEY CHECK (id = 1), log BLOB NOT NULL, number INTEGER NOT NULL, digest BLOB NOT NULL,
                sealed INTEGER, seal BLOB) STRICT;
            INSERT INTO log_end VALUES (1, randomblob(16), 0, zeroblob(32), NULL, NULL);
            """)
    ]
}
