public import Capabilities
public import JSON
import ProcessKit
import StorageKit

extension Journal {
    private static let columns: SQL = """
        SELECT id, name, status, exit, started, ended, file, holder,
            (SELECT count(*) FROM steps WHERE run = id AND is_final = 1),
            (SELECT count(*) FROM steps WHERE run = id AND is_final = 1 AND status = 'failed' AND is_forgiven = 0)
        FROM runs
        """

    /// The runs that began last.
    public func runs(limit: Int, name: String? = nil) async throws -> [RunRow] {
        try await database.read { connection in
            try connection.all(
                Self.columns + " WHERE ?1 IS NULL OR name = ?1 ORDER BY number DESC LIMIT ?2", name, limit
            ) { try self.row($0) }
        }
    }

    /// A run by its name, by the beginning of it, or the newest.
    public func find(_ name: String?) async throws -> RunRow {
        let name = name == "last" ? nil : name
        let found = try await database.read { connection in
            try connection.all(
                Self.columns
                    + " WHERE ?1 IS NULL OR substr(id, 1, length(?1)) = ?1 ORDER BY number DESC LIMIT 2", name
            ) { try self.row($0) }
        }
        guard let first = found.first else { throw RunError.unknown(name) }
        if let name, found.count > 1, first.id != name { throw RunError.ambiguous(name) }
        return first
    }

    /// What a run gave in the end, and why it failed.
    public func ending(of run: String) async throws -> (outputs: JSONObject, error: StepError?) {
        let row = try await database.read { connection in
            try connection.first("SELECT outputs, error_code, error_message FROM runs WHERE id = ?", run) { row in
                (try row[0] as String?, try row[1] as String?, try row[2] as String?)
            }
        }
        guard let (outputs, code, message) = row else { return ([:], nil) }
        return (
            try outputs.map { try JSON(parsing: Array($0.utf8)).object ?? [:] } ?? [:],
            code.map { StepError(code: $0, message: message ?? "") }
        )
    }

    /// Every attempt of every step, in the order in which they began.
    public func steps(of run: String) async throws -> [StepRow] {
        try await database.read { connection in
            try connection.all(
                """
                SELECT key, work, status, attempt, exit, error_code, error_message, started, duration, arguments, result
                FROM steps WHERE run = ? ORDER BY number
                """, run
            ) { row in
                let code: String? = try row[5]
                return StepRow(
                    key: try row[0], work: try row[1], status: StepStatus(rawValue: try row[2]) ?? .failed,
                    attempt: try row[3], exit: try row[4],
                    error: try code.map { StepError(code: $0, message: try (row[6] as String?) ?? "") },
                    started: try row[7], seconds: try row[8],
                    arguments: try JSON(parsing: Array((try row[9] as String).utf8)),
                    result: try JSON(parsing: Array((try row[10] as String).utf8)))
            }
        }
    }

    /// What the steps said, or one of them.
    public func events(of run: String, step: String? = nil) async throws -> [JournalEvent] {
        try await database.read { connection in
            try connection.all(
                """
                SELECT number, step, time, event FROM events
                WHERE run = ?1 AND (?2 IS NULL OR step = ?2) ORDER BY number
                """, run, step
            ) { row in
                JournalEvent(
                    number: try row[0], step: try row[1], time: try row[2],
                    event: try JSON(parsing: Array((try row[3] as String).utf8)))
            }
        }
    }

    /// The process that runs it; nil when nobody does any more.
    public func holder(of run: String) async throws -> Int32? {
        let text = try await database.read { connection in
            try connection.first("SELECT holder FROM runs WHERE id = ?", run) { try $0[0] as String? }
        }
        return held.process(holding: run, by: text ?? nil)
    }

    /// Forgets runs that ended before a time; gives how many.
    public func prune(before time: Timestamp) async throws -> Int {
        let now = now()
        return try await database.write { connection in
            try connection.run("DELETE FROM cache WHERE until <= ?", now)
            var count = 0
            for id in try self.prunable(before: time, connection) {
                for statement: SQL in ["DELETE FROM events WHERE run = ?", "DELETE FROM steps WHERE run = ?"] {
                    try connection.run(statement, id)
                }
                count += try connection.run("DELETE FROM runs WHERE id = ?", id)
            }
            return count
        }
    }

    /// The runs that `prune` would forget: those that ended, or were broken off, before a time.
    public func prunable(before time: Timestamp) async throws -> [String] {
        try await database.read { connection in try self.prunable(before: time, connection) }
    }

    private func prunable(before time: Timestamp, _ connection: Connection) throws -> [String] {
        let found = try connection.all(
            "SELECT id, holder FROM runs WHERE ended < ? OR (ended IS NULL AND started < ?)", time, time
        ) { (id: try $0[0] as String, holder: try $0[1] as String?) }
        return found.filter { !held.isHeld($0.id, by: $0.holder) }.map(\.id)
    }

    private func row(_ row: borrowing Row) throws -> RunRow {
        let id: String = try row[0]
        let isHeld = held.isHeld(id, by: try row[7])
        let status = RunSummary.Status(rawValue: try row[2]) ?? .failed
        return RunRow(
            id: id, name: try row[1], status: status, exit: try row[3], started: try row[4], ended: try row[5],
            file: try row[6], steps: try row[8], failed: try row[9], isBroken: status == .running && !isHeld)
    }
}
