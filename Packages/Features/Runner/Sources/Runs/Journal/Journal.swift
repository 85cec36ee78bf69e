public import Bundles
public import Capabilities
public import JSON
public import ProcessKit
public import StorageKit

/// The journal of runs: every run with its steps, their results and their output.
///
/// The file is opened on first use. Several programs may write at once.
public final class Journal: Sendable {
    /// The database, which can be checked, backed up and restored like other stores.
    public let database: Database
    let now: @Sendable () -> Timestamp
    /// The runs of this journal that are running. A run whose end could not be saved can be resumed at once.
    private let held: Holdings

    /// Names the file. `notice` is called when a damaged file was set aside; by default the message goes to standard
    /// error.
    ///
    /// - Parameter held: the running runs of another journal of this program with the same file.
    public init(
        _ path: String, held: Holdings = Holdings(), now: @escaping @Sendable () -> Timestamp,
        notice: @escaping @Sendable (StorageNotice) -> Void = { $0.tell(nil) }
    ) {
        // Even after a power loss a confirmed step must not be repeated. But ten thousand steps should not each wait
        // for the disk. Only the last moments can be lost, and they are repeated.
        database = Database(
            path, migrations: Self.migrations, durability: .normal, leavesLog: true, notice: notice)
        self.held = held
        self.now = now
    }

    /// Opens the file ahead of the first use.
    public func open() async {
        // An error occurs again on first use, where it is reported.
        do { try await database.write { _ in } } catch {}
    }

    /// Closes the file. It does not end the runs that are running.
    public func close() async {
        await database.close()
    }

    static let migrations = [
        Migration(
            "runs",
            """
            CREATE TABLE runs (
                id TEXT PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, digest TEXT NOT NULL,
                inputs TEXT NOT NULL, started INTEGER NOT NULL, ended INTEGER, status TEXT NOT NULL, exit INTEGER,
                outputs TEXT, error_code TEXT, error_message TEXT,
                -- Which process runs it, as long as it does.
                holder TEXT) STRICT, WITHOUT ROWID;
            CREATE INDEX runs_newest ON runs (started);
            CREATE TABLE steps (
                run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, key TEXT NOT NULL, attempt INTEGER NOT NULL,
                work TEXT NOT NULL, status TEXT NOT NULL, arguments TEXT NOT NULL, result TEXT NOT NULL DEFAULT 'null',
                exit INTEGER NOT NULL DEFAULT 0, error_code TEXT, error_message TEXT,
                started INTEGER NOT NULL, duration REAL NOT NULL DEFAULT 0,
                -- Whether it is not tried again, and whether a failure counts as well done.
                is_final INTEGER NOT NULL DEFAULT 0, is_forgiven INTEGER NOT NULL DEFAULT 0,
                number INTEGER NOT NULL,
                PRIMARY KEY (run, key, attempt)) STRICT, WITHOUT ROWID;
            CREATE TABLE events (
                run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, number INTEGER NOT NULL, step TEXT NOT NULL,
                time INTEGER NOT NULL, event TEXT NOT NULL, PRIMARY KEY (run, number)) STRICT, WITHOUT ROWID;
            CREATE TABLE cache (
                digest TEXT PRIMARY KEY, result TEXT NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
            """),
        Migration(
            "order",
            """
            -- The order in which runs began, which is not that of their times where a clock was wrong for a while.
            ALTER TABLE runs ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
            UPDATE runs SET number = ordered.number
                FROM (SELECT id, row_number() OVER (ORDER BY started, id) AS number FROM runs) AS ordered
                WHERE ordered.id = runs.id;
            DROP INDEX runs_newest;
            CREATE INDEX runs_newest ON runs (number);
            -- When a result was kept. Of those that are there nobody knows it.
            DELETE FROM cache;
            ALTER TABLE cache ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
            """),
        Migration(
            "trust",
            """
            -- Whether its bundle was found among those of a project, which are run for as long as they are trusted.
            ALTER TABLE runs ADD COLUMN needs_trust INTEGER NOT NULL DEFAULT 0;
            """),
    ]
}

extension Journal {
    private static let columns: SQL = """
        SELECT id, name, status, exit, started, ended, file, holder,
            (SELECT count(*) FROM steps WHERE run = id AND is_final = 1),
            (SELECT count(*) FROM steps WHERE run = id AND is_final = 1 AND status = 'failed' AND is_forgiven = 0)
        FROM runs
        """

    /// The newest runs.
    public func runs(limit: Int, name: String? = nil) async throws -> [RunRow] {
        try await database.read { connection in
            try connection.all(
                Self.columns + " WHERE ?1 IS NULL OR name = ?1 ORDER BY number DESC LIMIT ?2", name, limit
            ) { try self.row($0) }
        }
    }

    /// The newest runs for a person who is typing an id: only what is in the file now, which is not created for this.
    public func offered() -> [OfferedRun] {
        let found: [OfferedRun]? = database.glance { connection in
            try connection.all(
                "SELECT id, name, status, holder FROM runs ORDER BY number DESC LIMIT ?", Self.mostOffered
            ) { row in
                let id: String = try row[0]
                let status = RunSummary.Status(rawValue: try row[2]) ?? .failed
                let isHeld = self.held.isHeld(id, by: try row[3])
                return OfferedRun(
                    id: id, name: try row[1],
                    state: status == .running && !isHeld ? RunRow.broken : status.rawValue,
                    canBeResumed: status != .ok && !isHeld)
            }
        }
        return found ?? []
    }

    /// The steps of the run that `find` would return, in the order they started. Only an existing file is read.
    public func offeredSteps(of name: String?) -> [(key: String, work: String)] {
        let name = Self.beginning(name)
        let found: [(key: String, work: String)]? = database.glance { connection in
            let runs: [String] = try connection.all("SELECT id FROM runs" + Self.named, name) { row in try row[0] }
            guard let run = runs.first, !Self.isAmbiguous(name, runs) else { return [] }
            return try connection.all(
                "SELECT key, work FROM steps WHERE run = ? GROUP BY key ORDER BY min(number) LIMIT ?",
                run, Self.mostOffered
            ) { row in (key: try row[0] as String, work: try row[1] as String) }
        }
        return found ?? []
    }

    /// The longest list that still helps.
    private static let mostOffered = 100

    /// A run by its id, by the beginning of the id, or the newest run.
    public func find(_ name: String?) async throws -> RunRow {
        let name = Self.beginning(name)
        let found = try await database.read { connection in
            try connection.all(Self.columns + Self.named, name) { try self.row($0) }
        }
        guard let first = found.first else { throw RunError.unknown(name) }
        if let name, Self.isAmbiguous(name, found.map(\.id)) { throw RunError.ambiguous(name) }
        return first
    }

    /// The newest two runs whose ids begin with the text that is bound first; of all runs if it is null.
    private static let named: SQL = " WHERE ?1 IS NULL OR substr(id, 1, length(?1)) = ?1 ORDER BY number DESC LIMIT 2"

    /// How an id begins; nil for the newest run.
    private static func beginning(_ name: String?) -> String? { name == "last" ? nil : name }

    private static func isAmbiguous(_ name: String?, _ found: [String]) -> Bool {
        name != nil && found.count > 1 && found.first != name
    }

    /// The outputs of a run, and its error.
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

    /// Every attempt of every step, in the order they started.
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

    /// The last attempt of every step without its arguments and its result, in the order they started; of many steps
    /// only the newest.
    public func progress(of run: String, limit: Int) async throws -> [StepProgress] {
        let rows = try await database.read { connection in
            try connection.all(
                """
                SELECT key, work, status, attempt, exit, error_message, started, duration FROM steps
                WHERE run = ?1 AND NOT EXISTS (
                    SELECT 1 FROM steps later WHERE later.run = ?1 AND later.key = steps.key
                        AND later.attempt > steps.attempt)
                ORDER BY number DESC LIMIT ?2
                """, run, limit
            ) { row in
                StepProgress(
                    key: try row[0], work: try row[1], status: StepStatus(rawValue: try row[2]) ?? .failed,
                    attempt: try row[3], exit: try row[4], error: try row[5], started: try row[6],
                    duration: .seconds(try row[7] as Double))
            }
        }
        return rows.reversed()
    }

    /// The output of all steps, or of one.
    ///
    /// - Parameters:
    ///   - first: the number of the first event that is returned.
    ///   - limit: only so many of the newest events; nil for all.
    public func events(
        of run: String, step: String? = nil, from first: Int = 0, limit: Int? = nil
    ) async throws -> [JournalEvent] {
        let newestFirst = try await database.read { connection in
            try connection.all(
                """
                SELECT number, step, time, event FROM events
                WHERE run = ?1 AND (?2 IS NULL OR step = ?2) AND number >= ?3 ORDER BY number DESC LIMIT ?4
                """, run, step, first, limit ?? -1
            ) { row in
                JournalEvent(
                    number: try row[0], step: try row[1], time: try row[2],
                    event: try JSON(parsing: Array((try row[3] as String).utf8)))
            }
        }
        return newestFirst.reversed()
    }

    /// How many events of all steps, or of one, there are before an event.
    public func eventCount(of run: String, step: String? = nil, before number: Int) async throws -> Int {
        try await database.read { connection in
            try connection.first(
                "SELECT count(*) FROM events WHERE run = ?1 AND (?2 IS NULL OR step = ?2) AND number < ?3", run, step,
                number
            ) { try $0[0] } ?? 0
        }
    }

    /// The process that runs it; nil if none does.
    public func holder(of run: String) async throws -> Int32? {
        let text = try await database.read { connection in
            try connection.first("SELECT holder FROM runs WHERE id = ?", run) { try $0[0] as String? }
        }
        return held.process(holding: run, by: text ?? nil)
    }

    /// Deletes runs that ended before a time. Returns their number.
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

    /// The runs that `prune` would delete: runs that ended, or were interrupted, before a time.
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

extension Journal {
    /// Starts a run.
    ///
    /// - Parameters:
    ///   - needsTrust: whether it can be resumed only while its bundle is trusted.
    ///   - alone: throws if another run of the same file is running.
    ///   - redactor: knows the secrets, which are not stored.
    public func begin(
        _ bundle: Bundle, digest: String? = nil, inputs: JSONObject, needsTrust: Bool = false, alone: Bool = false,
        redactor: Redactor = Redactor(), eventsKept: Int = RunOptions().eventsKept
    ) async throws -> JournalRun {
        let time = now()
        // An input that is secret or contains a secret must be given again when the run is resumed.
        var shown = JSONObject()
        for (name, value) in inputs {
            let isSecret = bundle.inputs.first { $0.name == name }?.isSecret ?? false
            shown.append(name, isSecret || redactor.redact(value) != value ? .string(Redactor.mark) : value)
        }
        let text = JSON.object(shown).text()
        let (id, hold) = try await database.write { [held] connection in
            let others =
                try alone
                ? connection.all(
                    "SELECT id, holder FROM runs WHERE file = ? AND status = 'running' AND holder IS NOT NULL",
                    bundle.source.file
                ) { (id: try $0[0] as String, holder: try $0[1] as String) } : []
            for other in others where held.isHeld(other.id, by: other.holder) {
                throw RunError.overlaps(bundle.name, other.id)
            }
            // Four letters can repeat if many runs start in one second.
            var id = RunID.new(at: time)
            while try connection.first("SELECT 1 FROM runs WHERE id = ?", id.text, row: { try $0[0] as Int }) != nil {
                id = .new(at: time)
            }
            try connection.run(
                """
                INSERT INTO runs (id, name, file, digest, inputs, started, status, holder, needs_trust, number)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(number), 0) + 1 FROM runs))
                """, id.text, bundle.name, bundle.source.file, digest ?? bundle.source.digest, text, time,
                RunSummary.Status.running.rawValue, held.holder, needsTrust ? 1 : 0)
            // Held before others can see it; otherwise it would look interrupted.
            return (id, held.hold(id.text))
        }
        return JournalRun(self, id, hold: hold, eventsKept: eventsKept)
    }

    /// What resuming a run needs: its file and its inputs.
    public struct Unfinished: Sendable {
        /// The id of the run to resume.
        public let id: RunID
        /// The file of its bundle, as it was named at the start.
        public let file: String
        /// The digest of the bundle at that time. A changed bundle is not resumed.
        public let digest: String
        /// Secret inputs are only marked as such.
        public let inputs: JSONObject
        /// Whether it can be resumed only while its bundle is trusted.
        public let needsTrust: Bool
    }

    /// A run by its id, by the beginning of the id, or the newest run.
    public func unfinished(_ name: String?) async throws -> Unfinished {
        let row = try await find(name)
        let stored = try await database.read { connection in
            try connection.first(
                "SELECT file, digest, inputs, holder, needs_trust FROM runs WHERE id = ?", row.id
            ) { row in
                (
                    try row[0] as String, try row[1] as String, try row[2] as String, try row[3] as String?,
                    try row[4] as Int
                )
            }
        }
        guard let (file, digest, inputs, holder, needsTrust) = stored else { throw RunError.unknown(row.id) }
        if held.isHeld(row.id, by: holder) { throw RunError.stillRunning(row.id) }
        guard row.status != .ok else { throw RunError.alreadyDone(row.id) }
        return Unfinished(
            id: RunID(row.id), file: file, digest: digest, inputs: try JSON(parsing: Array(inputs.utf8)).object ?? [:],
            needsTrust: needsTrust == 1)
    }

    /// Resumes a run. Finished steps are not repeated, except failed ones if `again` is set.
    public func resume(_ id: RunID, again: Bool = false, eventsKept: Int = RunOptions().eventsKept) async throws
        -> JournalRun
    {
        let (hold, steps, events, count) = try await database.write { [held] connection in
            let before = try connection.first("SELECT holder FROM runs WHERE id = ?", id.text) { try $0[0] as String? }
            if held.isHeld(id.text, by: before ?? nil) { throw RunError.stillRunning(id.text) }
            try connection.run(
                "UPDATE runs SET holder = ?, status = 'running', ended = NULL WHERE id = ?", held.holder, id.text)
            let steps = try connection.all(
                """
                SELECT key, status, result, exit, error_code, error_message, duration, is_final, is_forgiven, attempt
                FROM steps WHERE run = ? ORDER BY key, attempt
                """, id.text
            ) { row -> (key: String, outcome: StepOutcome, isFinal: Bool) in
                var outcome = StepOutcome(StepStatus(rawValue: try row[1]) ?? .failed)
                let result = Array((try row[2] as String).utf8)
                outcome.result = try JSON(parsing: result)
                outcome.isMasked = result.contains(Array(Redactor.mark.utf8))
                outcome.exit = try row[3]
                if let code: String = try row[4] {
                    outcome.error = StepError(code: code, message: try (row[5] as String?) ?? "")
                }
                outcome.duration = .seconds(try row[6] as Double)
                outcome.isForgiven = try (row[8] as Int) == 1
                outcome.attempts = try row[9]
                return (try row[0], outcome, try (row[7] as Int) == 1)
            }
            let events = try connection.first("SELECT max(number) FROM events WHERE run = ?", id.text) {
                try $0[0] as Int?
            }
            let count = try connection.first("SELECT max(number) FROM steps WHERE run = ?", id.text) {
                try $0[0] as Int?
            }
            return (held.hold(id.text), steps, (events ?? nil).map { $0 + 1 } ?? 0, (count ?? nil) ?? 0)
        }
        var finished: [String: StepOutcome] = [:]
        var underway: Set<String> = []
        for (key, outcome, isFinal) in steps {
            if isFinal, !again || outcome.isGood {
                finished[key] = outcome
            } else if outcome.status == .running {
                underway.insert(key)
            }
        }
        return JournalRun(
            self, id, hold: hold, isResumed: true, finished: finished, underway: underway, events: events, steps: count,
            eventsKept: eventsKept)
    }
}

/// A run for a person who is typing its id.
public struct OfferedRun: Sendable, Hashable {
    /// The whole id.
    public let id: String
    /// The name of the bundle.
    public let name: String
    /// How the run ended, in the word of the list of runs.
    public let state: String
    /// Whether it ended without success.
    public let canBeResumed: Bool
}

/// A run in the list.
public struct RunRow: Record, Hashable {
    /// The whole id.
    public var id: String
    /// The name of the bundle.
    public var name: String
    /// How the run ended. It is `running` also for a broken run.
    public var status: RunSummary.Status
    /// The exit code of its last end; nil if it never ended.
    public var exit: Int?
    /// When it was first started.
    public var started: Timestamp
    /// When it ended; nil if it has not.
    public var ended: Timestamp?
    /// The file of the bundle.
    public var file: String
    /// The number of steps, and of runs of steps, that have ended for good.
    public var steps: Int
    /// The number of these that failed, without those that are allowed to fail.
    public var failed: Int
    /// Whether its process disappeared before it ended, so that it can be resumed.
    public var isBroken: Bool

    /// The state of a broken run.
    static let broken = "broken-off"

    public static let fields: [Field<RunRow>] = [
        Field("id", "Id of the run", .name) { $0.id },
        Field("name", "Name of the bundle") { $0.name },
        Field("status", "How the run ended", .state) { $0.isBroken ? RunRow.broken : $0.status.rawValue },
        Field("exit", "Exit code", .minor) { $0.exit },
        Field("started", "When it started") { $0.started },
        Field("seconds", "How long it took") { row in row.ended.map { ($0 - row.started) / .seconds(1) } },
        Field("steps", "Number of finished steps", .minor) { $0.steps },
        Field("failed", "Number of failed steps") { $0.failed },
        Field("file", "The bundle's file", .detail) { $0.file },
    ]
}

/// A step in the journal.
public struct StepRow: Record, Hashable {
    /// The step's id, as in `StepUpdate.key`.
    public var key: String
    /// The action or the bundle.
    public var work: String
    /// How the attempt ended; `running` if it has not.
    public var status: StepStatus
    /// The number of the attempt, from 1.
    public var attempt: Int
    /// The exit code of the attempt; 0 if it did not fail.
    public var exit: Int
    /// Why the attempt failed; nil if it did not.
    public var error: StepError?
    /// When the attempt started.
    public var started: Timestamp
    /// How long the attempt took, in seconds; 0 if it has not ended.
    public var seconds: Double
    /// The arguments, without secrets.
    public var arguments: JSON
    /// The result, without secrets; null if there is none.
    public var result: JSON

    public static let fields: [Field<StepRow>] = [
        Field("step", "The step", .name) { $0.key },
        Field("does", "The action or the bundle") { $0.work },
        Field("status", "How the step ended", .state) { $0.status },
        Field("attempt", "Number of the attempt") { $0.attempt },
        Field("seconds", "How long it took") { $0.seconds },
        Field("exit", "Exit code", .detail) { $0.exit },
        Field("error", "Why it failed") { $0.error?.message },
        Field("started", "When it started", .detail) { $0.started },
        Field("with", "Its arguments", .detail) { $0.arguments },
        Field("result", "Its result", .detail) { $0.result },
    ]
}

/// How far a step is.
public struct StepProgress: Sendable, Hashable {
    /// The step's id, as in `StepUpdate.key`.
    public let key: String
    /// The action or the bundle.
    public let work: String
    /// How its last attempt ended; `running` if it has not.
    public let status: StepStatus
    /// The number of its last attempt, from 1.
    public let attempt: Int
    /// The exit code of the attempt; 0 if it did not fail.
    public let exit: Int
    /// Why the attempt failed; nil if it did not.
    public let error: String?
    /// When the attempt started.
    public let started: Timestamp
    /// How long the attempt took; zero if it has not ended.
    public let duration: Duration
}

/// An output of a step.
public struct JournalEvent: Record, Hashable {
    /// Its place among the events of the run. Later events have larger numbers.
    public var number: Int
    /// The step that it comes from, as in `StepUpdate.key`.
    public var step: String
    /// When the step's action emitted it.
    public var time: Timestamp
    /// The event as the action's output has it, without secrets.
    public var event: JSON

    public static let fields: [Field<JournalEvent>] = [
        Field("time", "Time", .name) { $0.time },
        Field("step", "The step") { $0.step },
        Field("event", "The output") { $0.event },
    ]
}
