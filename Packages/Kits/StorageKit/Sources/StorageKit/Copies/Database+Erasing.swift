public import Capabilities
import FileKit

extension Database {
    /// Leaves nothing in the file of what was deleted before: neither in free pages, nor in the index of words, nor in the
    /// log. Tells how much smaller it is.
    ///
    /// A disk may keep what was once in a block that it does not show any more; no program can promise more than files.
    /// Throws, and has done nothing, while another program has the file open.
    @discardableResult
    public nonisolated(nonsending) func erase() async throws -> ByteCount {
        guard Files.exists(path) else { return ByteCount(0) }
        return try await writer.perform { [opening] connection in
            try opening.file.requireAlone()
            try connection.run("PRAGMA secure_delete = ON")
            defer { connection.takeBack("PRAGMA secure_delete = OFF") }
            try connection.transaction { try connection.rebuildIndexesOfWords() }
            let (freed, isLogEmpty) = try connection.compact(opening.file)
            guard isLogEmpty else {
                throw StorageError(
                    .busy,
                    "the log of \(PlainText.escape(opening.path)) cannot be emptied while somebody reads; try again "
                        + "when they are done")
            }
            return freed
        }
    }

    /// The files that were set aside because they were damaged, the oldest first.
    public var setAsides: [String] { get throws { try opening.file.setAsides } }

    /// Removes the files that were set aside, and tells which these were.
    public func removeSetAsides() throws -> [String] { try opening.file.removeSetAsides() }

    /// Other programs that have the file open, such as `martlet (process 4711)`.
    public func holders() throws -> [String] { try opening.file.holders().map(\.words) }

    /// Throws with their names while other programs have the file open.
    public nonisolated(nonsending) func requireAlone() async throws {
        guard Files.exists(path) else { return }
        // With a connection of our own, the kernel's list of locks shows by which device it knows the file.
        try await writer.perform { [opening] _ in try opening.file.requireAlone() }
    }
}

extension DatabaseFile {
    fileprivate func requireAlone() throws {
        let holders = try holders().map(\.words)
        guard holders.isEmpty else {
            throw StorageError(
                .busy,
                "\(PlainText.escape(path)) is open in \(holders.joined(separator: ", ")); end that first, and try again"
            )
        }
    }
}

extension Connection {
    /// An index keeps the words of a row that was deleted until it happens to be merged.
    fileprivate func rebuildIndexesOfWords() throws {
        let names = try all(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE % USING fts5%'"
        ) { row in try row[0] as String }
        for name in names {
            let quoted =
                "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
            try run(SQL(raw: "INSERT INTO \(quoted) (\(quoted)) VALUES ('rebuild')"))
        }
    }
}
