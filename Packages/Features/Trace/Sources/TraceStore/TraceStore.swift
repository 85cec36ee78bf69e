public import Capabilities
public import FileKit
public import JSON
public import StorageKit
import TraceKit

/// The traces of all processes of this user, in the database `trace.db`.
public final class TraceStore: Sendable {
    /// What is kept.
    public struct Budget: Sendable {
        /// The bytes of spans; of more, the oldest traces are removed.
        public var bytes = 512 << 20
        /// The bytes of spans that other programs have sent, besides. Of more, theirs are removed.
        public var received = 128 << 20
        /// How long a trace is kept, from when it was added.
        public var time = Duration.seconds(14 * 86_400)

        /// The defaults of the settings.
        public init() {}
    }

    public let database: Database
    private let spools: String
    private let budget: Budget
    let now: @Sendable () -> Timestamp

    /// - Parameter spools: the folder with the files of processes.
    public init(
        _ database: Database, spools: String, budget: Budget, now: @escaping @Sendable () -> Timestamp
    ) {
        (self.database, self.spools, self.budget, self.now) = (database, spools, budget, now)
    }

    /// The database in a file.
    public static func database(
        at path: String, notice: @escaping @Sendable (StorageNotice) -> Void = { $0.tell(nil) }
    ) -> Database {
        // What a crash of the machine takes with it was written in its last seconds, so that not every change waits for the disk.
        Database(
            path, migrations: migrations, durability: .normal, busyLimit: .seconds(10), isTraced: false,
            notice: notice)
    }

    public func close() async { await database.close() }

    /// Whether there is anything to read.
    public var isEmpty: Bool { !Files.exists(database.path) && !Files.exists(spools) }
}

// MARK: Taking spools

extension TraceStore {
    /// The spans of one transaction.
    private static let batch = 2_000

    /// Takes what processes have written into the database, and removes what is over the budget.
    public func takeSpools() async throws {
        guard Files.exists(spools) else { return }
        let lock: FileLock
        do throws(any Error) { lock = try await FileLock.acquire("\(spools).lock", within: .seconds(2)) } catch let
            error as FileError
            where error.kind == .busy
        {
            // One process at a time; what another one is taking is there soon.
            return
        }
        var hasTaken = false
        for entry in try Files.list(spools) where entry.name.hasSuffix(".ndjson") {
            let path = "\(spools)/\(entry.name)"
            // What a killed process has left of an earlier attempt is taken with it.
            _ = try SpoolFile(path).take(as: "\(path).taken-\(now().microseconds)")
        }
        for entry in try Files.list(spools) where entry.name.contains(".ndjson.taken-") {
            let path = "\(spools)/\(entry.name)"
            try await add(linesOf: FileDescriptor.reading(path), isSpool: true)
            try Files.remove(path)
            hasTaken = true
        }
        if hasTaken { try await prune() }
        lock.release()
    }

    /// Adds the spans of a file with a span a line.
    ///
    /// - Parameter isSpool: whether a process of ours has written it. What another file says about collectors means nothing.
    /// - Returns: how many were new, and how many lines were no spans.
    @discardableResult
    public func add(
        linesOf file: consuming FileDescriptor, isSpool: Bool = false
    ) async throws -> (added: Int, unreadable: Int) {
        var reader = LineFile(file)
        var resource: JSONObject = [:]
        var collectors = CollectorAddresses()
        var (added, unreadable) = (0, 0)
        while let lines = try reader.next(upTo: Self.batch) {
            var batch: [(TraceSpan, [UInt8])] = []
            var told: [LogRecord] = []
            var dropped = 0
            func store() async throws {
                let (spans, logs, resource, collectors, lost) = (batch, told, resource, collectors, dropped)
                (batch, told, dropped) = ([], [], 0)
                guard !spans.isEmpty || !logs.isEmpty || lost > 0 else { return }
                let time = now()
                added += try await database.write { connection in
                    if lost > 0 { try connection.count(lost: lost, at: time) }
                    if !logs.isEmpty {
                        try connection.add(logs, of: resource, for: collectors.logs, at: time)
                    }
                    return try connection.add(spans, of: resource, for: collectors.spans, at: time)
                }
            }
            for line in lines {
                // A line that cannot be read, such as the last one of a killed process, loses itself only.
                do {
                    switch try SpoolLine(line[...]) {
                    case .span(let span): batch.append((span, line))
                    case .log(let log): told.append(log)
                    case .dropped(let count): dropped += count
                    case .resource(let next, let addresses):
                        try await store()
                        (resource, collectors) = (next, isSpool ? addresses : CollectorAddresses())
                    }
                } catch let error as StorageError {
                    throw error
                } catch is CancellationError {
                    throw CancellationError()
                } catch {
                    unreadable += 1
                }
            }
            try await store()
        }
        return (added, unreadable)
    }

    /// Adds spans that other programs have sent. They never take the place of ours.
    ///
    /// - Returns: how many were new, and roughly the bytes of all.
    public func add(received groups: [(resource: JSONObject, spans: [TraceSpan])]) async throws -> (
        added: Int, bytes: Int
    ) {
        let lines = groups.map { group in
            let spans = group.spans.map { span in
                var line: [UInt8] = []
                SpanLine.write(span, into: &line)
                return (span, line)
            }
            return (resource: group.resource, spans: spans)
        }
        let time = now()
        let added = try await database.write { connection in
            try lines.reduce(0) { sum, group in
                try sum + connection.add(group.spans, of: group.resource, for: nil, at: time, isReceived: true)
            }
        }
        return (added, lines.reduce(0) { $0 + $1.spans.reduce(0) { $0 + $1.1.count } })
    }

    /// Removes traces that are too old, and the oldest of too many.
    public func prune() async throws {
        let now = now()
        let oldest = now - budget.time
        try await database.write { connection in
            try connection.remove("SELECT trace FROM traces WHERE added < ? LIMIT ?", oldest, 100_000, isExpired: true)
        }
        var bytes = try await database.read { connection in
            try connection.first("SELECT coalesce(sum(bytes), 0) FROM traces") { try $0[0] as Int } ?? 0
        }
        // In parts, so that others need not wait long.
        while bytes > budget.bytes {
            let removed = try await database.write { connection in
                let oldest = try connection.first(
                    "SELECT coalesce(sum(bytes), 0) FROM (SELECT bytes FROM traces WHERE bytes > 0 ORDER BY began LIMIT 200)"
                ) { try $0[0] as Int }
                try connection.remove(
                    "SELECT trace FROM traces WHERE bytes > 0 ORDER BY began LIMIT ?", 200, isExpired: true)
                return oldest ?? 0
            }
            guard removed > 0 else { break }
            bytes -= removed
        }
        try await pruneReceived()
        try await pruneLogs(before: oldest, budget)
        try await pruneMetrics(before: oldest, budget)
        try await database.write { connection in
            try connection.run("DELETE FROM losses WHERE time < ?", oldest)
            try connection.forgetCollectors(before: oldest)
            try connection.pruneFigures(at: now)
            try connection.run(
                """
                DELETE FROM resources WHERE NOT EXISTS (SELECT 1 FROM spans WHERE resource = resources.number)
                    AND NOT EXISTS (SELECT 1 FROM logs WHERE resource = resources.number)
                    AND NOT EXISTS (SELECT 1 FROM series WHERE resource = resources.number)
                """)
            try connection.forgetArrivals()
        }
    }
}

extension TraceStore {
    /// Removes what others have sent, the oldest first, as far as it is more than its share.
    private func pruneReceived() async throws {
        while true {
            let isDone = try await database.write { [budget] connection in
                let sum = try connection.first("SELECT coalesce(sum(received), 0) FROM traces") { try $0[0] as Int }
                var bytes = sum ?? 0
                // When they were added, since they may say any time.
                let oldest = try connection.all(
                    "SELECT trace, received FROM traces WHERE received > 0 ORDER BY added, began LIMIT 200"
                ) { (try $0[0] as [UInt8], try $0[1] as Int) }
                for (trace, count) in oldest where bytes > budget.received {
                    try connection.removeReceived(of: trace)
                    bytes -= count
                }
                return oldest.isEmpty || bytes <= budget.received
            }
            if isDone { return }
        }
    }
}

extension Timestamp {
    fileprivate static func - (time: Timestamp, duration: Duration) -> Timestamp { time + (.zero - duration) }
}

extension TraceStore {
    /// The migrations. Never change a released migration; add a new one.
    static let migrations = [
        Migration(
            "traces",
            """
            CREATE TABLE resources (number INTEGER PRIMARY KEY, attributes TEXT NOT NULL UNIQUE) STRICT;
            CREATE TABLE spans (
                trace BLOB NOT NULL, span BLOB NOT NULL, resource INTEGER NOT NULL, name TEXT NOT NULL,
                feature TEXT NOT NULL, began INTEGER NOT NULL, duration INTEGER NOT NULL, failure TEXT, line BLOB NOT NULL,
                PRIMARY KEY (trace, span)) STRICT, WITHOUT ROWID;
            CREATE INDEX spans_began ON spans (began, trace, span);
            CREATE INDEX spans_name ON spans (name);
            CREATE INDEX spans_resource ON spans (resource);
            CREATE TABLE traces (
                trace BLOB PRIMARY KEY, began INTEGER NOT NULL, ended INTEGER NOT NULL, added INTEGER NOT NULL, name TEXT, failure TEXT,
                service TEXT NOT NULL, spans INTEGER NOT NULL, failures INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
            CREATE INDEX traces_began ON traces (began);
            CREATE INDEX traces_added ON traces (added);
            CREATE TABLE losses (time INTEGER NOT NULL, spans INTEGER NOT NULL) STRICT;
            """),
        Migration(
            "collectors",
            """
            CREATE TABLE collectors (
                number INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE, used INTEGER NOT NULL, sent INTEGER NOT NULL DEFAULT 0,
                refused INTEGER NOT NULL DEFAULT 0, expired INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
                next INTEGER, problem TEXT, refusal TEXT, refused_at INTEGER) STRICT;
            CREATE TABLE unsent (
                number INTEGER PRIMARY KEY, collector INTEGER NOT NULL, trace BLOB NOT NULL, span BLOB NOT NULL,
                UNIQUE (trace, span, collector)) STRICT;
            CREATE INDEX unsent_collector ON unsent (collector, number);
            """),
        Migration(
            "received",
            """
            ALTER TABLE spans ADD COLUMN received INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE traces ADD COLUMN received INTEGER NOT NULL DEFAULT 0;
            """),
        Migration(
            "logs",
            """
            CREATE TABLE logs (
                number INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, added INTEGER NOT NULL, level INTEGER NOT NULL, scope TEXT NOT NULL,
                message TEXT NOT NULL, attributes TEXT NOT NULL, trace BLOB, span BLOB, resource INTEGER NOT NULL,
                received INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
            CREATE INDEX logs_time ON logs (time);
            CREATE INDEX logs_trace ON logs (trace) WHERE trace IS NOT NULL;
            CREATE INDEX logs_resource ON logs (resource);
            CREATE INDEX logs_bytes ON logs (received, bytes);
            CREATE TABLE arrivals (number INTEGER PRIMARY KEY AUTOINCREMENT, trace BLOB NOT NULL, span BLOB NOT NULL) STRICT;
            """),
        Migration(
            "search",
            """
            DROP INDEX spans_began;
            CREATE INDEX spans_began ON spans (began, trace, span, duration);
            DROP INDEX spans_name;
            CREATE INDEX spans_name ON spans (name, began);
            CREATE INDEX spans_failed ON spans (began) WHERE failure IS NOT NULL;
            """),
        Migration(
            "figures",
            """
            CREATE TABLE operations (
                number INTEGER PRIMARY KEY, name TEXT NOT NULL, feature TEXT NOT NULL, service TEXT NOT NULL,
                received INTEGER NOT NULL, UNIQUE (name, feature, service, received)) STRICT;
            CREATE TABLE figures (
                width INTEGER NOT NULL, received INTEGER NOT NULL, start INTEGER NOT NULL, operation INTEGER NOT NULL,
                failures INTEGER NOT NULL, sum INTEGER NOT NULL, longest INTEGER NOT NULL, input_tokens INTEGER NOT NULL,
                output_tokens INTEGER NOT NULL, nanodollars INTEGER NOT NULL, sketch BLOB NOT NULL,
                PRIMARY KEY (width, received, start, operation)) STRICT, WITHOUT ROWID;
            """),
        Migration(
            "subjects",
            """
            CREATE TABLE subjects (
                trace BLOB NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (trace, kind, id)) STRICT, WITHOUT ROWID;
            CREATE INDEX subjects_id ON subjects (id);
            CREATE INDEX spans_requests ON spans (began, trace, span)
                WHERE name = 'stream' OR substr(name, 1, instr(name || ' ', ' ') - 1)
                    IN ('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HTTP');
            """),
        Migration(
            "metrics",
            """
            CREATE TABLE series (
                number INTEGER PRIMARY KEY, resource INTEGER NOT NULL, scope TEXT NOT NULL, name TEXT NOT NULL,
                attributes TEXT NOT NULL, unit TEXT NOT NULL, kind TEXT NOT NULL, time INTEGER NOT NULL, value REAL,
                count INTEGER, sum REAL, least REAL, most REAL, seen INTEGER NOT NULL, bytes INTEGER NOT NULL,
                points INTEGER NOT NULL, UNIQUE (resource, scope, name, attributes)) STRICT;
            CREATE INDEX series_seen ON series (seen);
            """),
        Migration(
            "signals",
            """
            ALTER TABLE collectors RENAME TO trace_collectors;
            CREATE TABLE collectors (
                number INTEGER PRIMARY KEY, address TEXT NOT NULL, signal TEXT NOT NULL, used INTEGER NOT NULL,
                sent INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0, expired INTEGER NOT NULL DEFAULT 0,
                attempts INTEGER NOT NULL DEFAULT 0, next INTEGER, problem TEXT, refusal TEXT, refused_at INTEGER,
                UNIQUE (address, signal)) STRICT;
            INSERT INTO collectors SELECT number, address, 'traces', used, sent, refused, expired, attempts, next, problem,
                refusal, refused_at FROM trace_collectors;
            DROP TABLE trace_collectors;
            CREATE TABLE unsent_logs (
                number INTEGER PRIMARY KEY, collector INTEGER NOT NULL, log INTEGER NOT NULL, UNIQUE (log, collector)) STRICT;
            CREATE INDEX unsent_logs_collector ON unsent_logs (collector, number);
            """),
    ]
}
