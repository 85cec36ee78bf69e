public import Capabilities
import FileKit
import LoopKit

extension Database {
    /// Looks through the whole file for damage, as it is, and gives a sentence for each finding.
    ///
    /// One that would not be opened, because it is newer or of another program, throws as opening does.
    public nonisolated(nonsending) func check() async throws -> [String] {
        guard Files.exists(path) else { return [] }
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await onOwnThread { [opening] in Result { try opening.findings(cancellation) } }.get()
        } onCancel: {
            cancellation.want()
        }
    }

    /// Writes the file anew without the space that nothing uses, and tells how much smaller it is.
    public nonisolated(nonsending) func compact() async throws -> ByteCount {
        try await writer.perform { [opening] connection in try connection.compact(opening.file).freed }
    }

    /// Lets SQLite look at its indexes, so that it chooses well among them. Worth it after much has changed.
    public nonisolated(nonsending) func optimize() async throws {
        try await writer.perform { connection in try connection.run("PRAGMA optimize") }
    }
}

extension Connection {
    /// Writes the file anew without the space that nothing uses. Tells how much smaller it is, and whether the log is
    /// empty, which it cannot be made while somebody reads.
    func compact(_ file: DatabaseFile) throws -> (freed: ByteCount, isLogEmpty: Bool) {
        let before = try file.size
        // The whole database is written once more on the way. What is large goes to a file without a name for that.
        let isLarge = before > 64 << 20
        if isLarge { try run("PRAGMA temp_store = FILE") }
        defer { if isLarge { takeBack("PRAGMA temp_store = MEMORY") } }
        try run("VACUUM")
        let isBusy = try first("PRAGMA wal_checkpoint(TRUNCATE)") { row in try row[0] as Int }
        return (ByteCount(max(0, before - (try file.size))), isBusy == 0)
    }
}

extension Connection {
    /// Ends a setting of this connection, also after a failure.
    func takeBack(_ statement: SQL) {
        // One that cannot even do this is broken, which its next use says.
        do { try run(statement) } catch {}
    }
}

extension Opening {
    fileprivate func findings(_ cancellation: Cancellation) throws -> [String] {
        do {
            let connection = try inspect(path, cancellation)
            try connection.requireOwn()
            _ = try connection.requireKnown(migrations)
            let orphans = try connection.all("PRAGMA foreign_key_check") { row in
                "a row of table \(try row[0] as String) points to nothing in \(try row[2] as String)"
            }
            return (try connection.damage(limit: 20, isQuick: false) + orphans.prefix(20)).map(PlainText.escape)
        } catch let error as StorageError where error.kind == .damaged {
            return [error.message]
        }
    }
}
