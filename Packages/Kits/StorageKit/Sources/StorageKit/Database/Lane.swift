/// A place for one connection, opened when it is first needed.
///
/// Safe to hand over: whoever took a lane out of its pool is the only one to use it until it is put back, and the lock
/// of the pool orders the two.
final class Lane: @unchecked Sendable {
    private var connection: Connection?

    /// Does work on the connection with a way to stop it.
    func use<Result>(
        _ cancellation: Cancellation?, open: (Cancellation?) throws -> Connection,
        _ body: (Connection) throws -> Result
    ) throws -> Result {
        // Somebody has put another file in the place of ours: what is written into the old one, nobody reads again.
        if connection?.hasMoved == true { close() }
        let connection = try connection ?? open(cancellation)
        self.connection = connection
        connection.watch.cancellation = cancellation
        defer {
            connection.watch.cancellation = nil
            // One that could not undo a transaction closed itself; the next work gets a new one.
            if connection.isClosed { self.connection = nil }
        }
        return try body(connection)
    }

    func close() {
        connection?.close()
        connection = nil
    }
}
