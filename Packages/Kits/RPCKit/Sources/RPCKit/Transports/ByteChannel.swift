public import ProcessKit

/// A stream of bytes in both directions.
public protocol ByteChannel: Sendable {
    /// The next bytes that have come, or nil at the end.
    func read() async throws -> [UInt8]?

    /// Writes as many of the bytes as the peer takes at once, from `start` on, and returns how many that were.
    func writeNow(_ bytes: [UInt8], from start: Int) throws -> Int

    /// Waits until something may be written.
    func waitUntilWritable() async throws

    /// Ends both directions. A read that waits ends.
    func close()
}

/// The standard input and output of a child.
public struct ChildChannel: ByteChannel {
    private let input: InputPipe
    private let output: OutputPipe

    /// Both must be pipes.
    public init(_ child: ChildProcess) throws(ProcessError) {
        input = try child.input
        output = try child.output
    }

    public func read() async throws -> [UInt8]? { try await output.read() }
    public func writeNow(_ bytes: [UInt8], from start: Int) throws -> Int { try input.writeNow(bytes, from: start) }
    public func waitUntilWritable() async throws { try await input.waitUntilWritable() }
    /// The child sees the end of its input. Its output ends when it ends.
    public func close() { input.close() }
}
