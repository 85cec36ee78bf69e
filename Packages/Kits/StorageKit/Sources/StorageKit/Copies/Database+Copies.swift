public import Capabilities
import FileKit
import Glibc
import LoopKit

extension Database {
    /// Writes a copy of one state of the database to a new file, while others read and write.
    ///
    /// The copy is complete or not there: it is written under another name and renamed. An older file of that name is
    /// refused, so that no copy is lost.
    public nonisolated(nonsending) func backup(
        to copy: String, progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws {
        guard !Files.exists(copy) else { throw Self.isThere(copy) }
        let partial = DatabaseFile(path: "\(copy).partial-\(String(UInt64.random(in: .min ... .max), radix: 36))")
        let cancellation = Cancellation()
        do {
            try await withTaskCancellationHandler {
                try await read { source in try source.copy(to: partial, cancellation, progress) }
            } onCancel: {
                cancellation.want()
            }
            do throws(FileError) {
                try Files.rename(partial.path, toNew: copy)
            } catch {
                // Somebody else's file that has the name by now is not replaced.
                throw error.kind == .exists
                    ? Self.isThere(copy)
                    : StorageError(.open, "cannot give the copy its name: \(PlainText.escape(error.message))")
            }
        } catch {
            partial.removeAll()
            throw error
        }
    }

    /// Looks whether a copy could be restored, and changes nothing.
    ///
    /// Throws what `restore` would throw because of the copy.
    public nonisolated(nonsending) func verify(_ copy: String) async throws {
        let cancellation = Cancellation()
        try await withTaskCancellationHandler {
            try await onOwnThread { [opening] in Result { _ = try opening.soundCopy(copy, cancellation) } }.get()
        } onCancel: {
            cancellation.want()
        }
    }

    private static func isThere(_ copy: String) -> StorageError {
        StorageError(.open, "\(PlainText.escape(copy)) is there already; name a new file for the copy")
    }

    /// Replaces everything by a copy, after the copy was found sound. Open connections go on with the new content.
    ///
    /// An error or cancellation while it is checked and copied leaves the database as it was.
    public nonisolated(nonsending) func restore(
        from copy: String, progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws {
        let cancellation = Cancellation()
        try await withTaskCancellationHandler {
            try await writer.perform { [opening] connection in
                let source = try opening.soundCopy(copy, cancellation)
                try PageCopy(from: source.handle, to: connection.handle).run(cancellation) { done, total in
                    progress(Progress("restoring", completed: done, of: total))
                }
                try connection.takeUp(opening.migrations)
            }
        } onCancel: {
            cancellation.want()
        }
    }
}

extension Opening {
    /// A connection to a copy that is whole, and of a form that is known here.
    fileprivate func soundCopy(_ copy: String, _ cancellation: Cancellation) throws -> Connection {
        let name = PlainText.escape(copy)
        do {
            let source = try inspect(copy, cancellation)
            try source.requireOwn()
            // SQLite takes an empty file for a new database, but a copy has at least the tables of the first version.
            guard try source.isMarked() else {
                throw StorageError(.damaged, "the copy \(name) is empty; take an older one")
            }
            _ = try source.requireKnown(migrations)
            if let damage = try source.damage(limit: 1, isQuick: false).first {
                throw StorageError(.damaged, "the copy \(name) is damaged: \(damage); take an older one")
            }
            return source
        } catch let error as StorageError where error.kind == .damaged && error.resultCode != 0 {
            // The words for a database that is in use promise what does not happen to a copy.
            throw StorageError(
                .damaged, "the copy \(name) is damaged and cannot be read; take an older one",
                resultCode: error.resultCode)
        }
    }
}

extension Connection {
    /// Brings restored tables up to date. The old ones are gone by now, so a wish to stop comes too late.
    fileprivate func takeUp(_ migrations: [Migration]) throws {
        do {
            try watch.undisturbed { try migrate(migrations) }
        } catch {
            // The next use opens the file anew and tries again.
            close()
            throw error
        }
    }

    /// Copies what this connection sees into a new file that needs no log beside it.
    ///
    /// Called in a snapshot: nothing that others write meanwhile makes the copy begin again.
    fileprivate func copy(
        to file: DatabaseFile, _ cancellation: Cancellation, _ progress: @Sendable (Progress) -> Void
    ) throws {
        // A snapshot begins with the first look at the database.
        try run("SELECT count(*) FROM sqlite_schema")
        try file.make()
        let target = Connection(try Handle(file.path, .fill, watch: Watch(limit: watch.limit)))
        try PageCopy(from: handle, to: target.handle).run(cancellation) { done, total in
            progress(Progress("copying", completed: done, of: total))
        }
        try target.run("PRAGMA journal_mode = DELETE")
    }
}
