import Capabilities
import Glibc

extension Connection {
    /// Opens a database of one's own thread: makes it if it is missing, and brings its tables up to date.
    ///
    /// A damaged file is set aside, which `notice` tells, or standard error; a newer, changed or foreign one is refused. Waits block the
    /// thread, for at most `busyLimit` each.
    public static func open(
        _ path: String, migrations: [Migration], durability: Durability = .full, busyLimit: Duration = .seconds(30),
        notice: @escaping @Sendable (StorageNotice) -> Void = { $0.tell(nil) }
    ) throws -> Connection {
        let opening = Opening(
            path: path, migrations: migrations, durability: durability, busyLimit: busyLimit, notice: notice)
        return try opening.open()
    }

    /// Lets readers and a writer work at once, by a log beside the file. The file remembers it.
    ///
    /// The change needs the file alone and does not always wait for that by itself.
    func useLog(within limit: Duration) throws {
        let deadline = ContinuousClock.now + limit
        while true {
            do {
                let mode: String? = try first("PRAGMA journal_mode = WAL") { row in try row[0] }
                if mode == "wal" { return }
                throw StorageError.sharesNoMemory(path)
            } catch let error as StorageError where error.kind == .busy {
                guard ContinuousClock.now < deadline else { throw error }
                usleep(5000)
            }
        }
    }

    /// What is wrong in the file, as sentences; a quick look leaves out whether indexes agree with their tables.
    func damage(limit: Int, isQuick: Bool) throws -> [String] {
        let sql = SQL(raw: "PRAGMA \(isQuick ? "quick_check" : "integrity_check")(\(limit))")
        return try all(sql) { row in try row[0] as String }.filter { $0 != "ok" }
    }
}

extension StorageError {
    /// A log beside the file needs memory that processes share, which some network file systems have not got.
    static func sharesNoMemory(_ path: String) -> StorageError {
        StorageError(.open, "the file system cannot share memory, so \(PlainText.escape(path)) cannot be used there")
    }
}
