/// A connection that `ReconnectingConnection` keeps up, such as a `WebSocket`.
public protocol KeptConnection: Sendable {
    associatedtype Input: Sendable

    /// The next thing from the server, each of which is a sign of life; nil when the server has closed.
    func receive() async throws -> Input?
    /// Asks the server for a sign of life.
    func ping() async throws
    /// Ends it in good order, within a short time, also in a cancelled task.
    func close() async
}
