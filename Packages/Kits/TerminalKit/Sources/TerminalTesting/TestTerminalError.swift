/// What a terminal for tests did not do.
public struct TestTerminalError: Error {
    public let message: String

    /// An error with a message.
    public init(message: String) { self.message = message }
}
