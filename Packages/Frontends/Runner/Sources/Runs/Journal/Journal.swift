public import Capabilities
public import ProcessKit
public import StorageKit

/// What was run: every run with its steps, what they gave and what they said.
///
/// Nothing is opened before the first use, and several programs may write at once.
public final class Journal: Sendable {
    public let database: Database
    let now: @Sendable () -> Timestamp
    /// The runs that go on in this journal. One whose end could not be stored can be gone on with at once.
    let held: Holdings

    /// Names the file; `notice` is told when a damaged one was set aside; standard error, where nothing is said.
    ///
    /// - Parameter held: those of another journal of this program that has the same file.
    public init(
        _ path: String, held: Holdings = Holdings(), now: @escaping @Sendable () -> Timestamp,
        notice: @escaping @Sendable (StorageNotice) -> Void = { $0.tell(nil) }
    ) {
        // A step that was confirmed must not be done again after a loss of power either, but ten thousand of them should
        // not wait for a disk each: what is lost then are the last moments, and they are done again.
        database = Database(
            path, migrations: Self.migrations, durability: .normal, leavesLog: true, notice: notice)
        self.held = held
        self.now = now
    }

    /// Opens the file, so that the first use need not.
    public func open() async {
        // What goes wrong here goes wrong again there, where it can be told.
        do { try await database.write { _ in } } catch {}
    }

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
