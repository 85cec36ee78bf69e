extension Connection {
    /// Does all of `body` or nothing: an error rolls back and is thrown on. Inside another one it is a savepoint.
    ///
    /// The right to write is taken at the start (BEGIN IMMEDIATE), where it can be waited for; a transaction that only
    /// finds out later that it writes may be refused although it could have waited.
    @discardableResult
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try depth == 0
            ? enclose(body, "BEGIN IMMEDIATE", end: "COMMIT", undo: ["ROLLBACK"])
            : enclose(body, "SAVEPOINT nested", end: "RELEASE nested", undo: ["ROLLBACK TO nested", "RELEASE nested"])
    }

    /// Lets `body` see one state of the database, whatever others write meanwhile.
    public func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try depth == 0 ? enclose(body, "BEGIN", end: "COMMIT", undo: ["ROLLBACK"]) : body()
    }

    private func enclose<Result>(_ body: () throws -> Result, _ begin: SQL, end: SQL, undo: [SQL]) throws -> Result {
        try run(begin)
        depth += 1
        defer { depth -= 1 }
        do {
            let result = try body()
            // A wish to stop still counts here, but no longer in the middle of the end.
            _ = try ready()
            try watch.undisturbed { _ = try run(end) }
            return result
        } catch {
            watch.undisturbed { takeBack(undo) }
            throw error
        }
    }

    /// Undoes the innermost transaction; the error that led here is the one that the caller sees.
    private func takeBack(_ undo: [SQL]) {
        do {
            // SQLite has rolled back by itself after some errors.
            guard try !handle.isIdle else { return }
            for step in undo { try run(step) }
        } catch {
            // Closing rolls back without fail. Whoever goes on with this connection is told that it is closed.
            close()
        }
    }
}
