import Capabilities
public import ProcessKit
public import RPCKit

/// A server that is a program of this machine, which runs as long as its client needs it.
public struct MCPProgram: Sendable {
    /// The program and everything it gets.
    public var command: Command
    /// The largest message, and how much may wait for a server that does not read.
    public var limits: StreamTransport.Limits
    /// How long it may take to end by itself once its input has ended, and then after it was asked to.
    public var patience: Duration

    /// The end of what a server writes to its standard error is kept up to this many bytes.
    public static let keptMessages = 256 << 10

    /// A server with the limits of the program.
    ///
    /// The environment must have no secrets of ours. Whatever the server starts ends with it, and with this process.
    public init(
        _ command: Command, limits: StreamTransport.Limits = StreamTransport.Limits(),
        patience: Duration = .seconds(2)
    ) {
        self.command = command
        self.limits = limits
        self.patience = patience
        self.command.input = .pipe
        self.command.output = .pipe
        self.command.errors = .tail(limit: Self.keptMessages)
        self.command.hasOwnSession = true
        self.command.endsWithParent = true
        self.command.endsDescendants = true
    }

    /// Starts the server, and ends it when `body` returns or throws.
    ///
    /// - Parameter body: gets the transport for a client, and the program to read its messages.
    /// - Throws: `ProcessError` if it cannot be started, and what `body` throws.
    public func whileRunning<Value: Sendable>(
        by launcher: Launcher, _ body: @Sendable (MCPProgramTransport) async throws -> Value
    ) async throws -> Value {
        try await launcher.withChild(command, grace: patience) { child in
            let transport = MCPProgramTransport(child, try ChildChannel(child), limits, launcher.executor)
            let result: Result<Value, any Error>
            do { result = .success(try await body(transport)) } catch { result = .failure(error) }
            await child.terminate(patience: Task.isCancelled ? .zero : patience, grace: patience)
            return try result.get()
        }
    }
}

/// The messages of a program that is a server.
public final class MCPProgramTransport: MCPTransport {
    private let child: ChildProcess
    private let stream: StreamTransport
    private let executor: any TaskExecutor

    /// How long the exit of a program that has closed its output is waited for.
    private static let exitPause = Duration.seconds(1)
    private static let shownMessages = 600

    init(
        _ child: ChildProcess, _ channel: ChildChannel, _ limits: StreamTransport.Limits, _ executor: any TaskExecutor
    ) {
        self.child = child
        self.executor = executor
        stream = StreamTransport(channel, framing: .lines, limits: limits)
    }

    /// The number of the process.
    public var processID: Int32 { child.processID }

    /// The end of what the server has written to its standard error.
    public var messages: String { String(decoding: child.errorTail, as: UTF8.self) }

    public var isLasting: Bool { true }
    public var messageCount: Int { child.errorCount }
    public func messages(after count: Int) -> [UInt8] { child.errorTail(after: count) }

    /// - Throws: how the program ended, with its last messages, since nobody else knows.
    public func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        // An answer is read by the thread that has waited for it.
        try await withTaskExecutorPreference(executor) { try await stream.run(receive) }
        let status: ChildStatus
        do {
            status = try await child.exitStatus(until: .now + Self.exitPause)
        } catch let error as ProcessError where error.kind == .timedOut {
            throw MCPError(.closed, "it has closed its output but not ended\(lastMessages)")
        }
        throw MCPError(.closed, "it ended with \(Self.words(status))\(lastMessages)")
    }

    public func send(_ message: RPCMessage) throws(RPCFailure) { try stream.send(message) }

    public func close() { stream.close() }

    private static func words(_ status: ChildStatus) -> String {
        switch status {
        case .exited(let code): "exit code \(code)"
        case .signalled(let number): "signal \(number)"
        }
    }

    private var lastMessages: String {
        let text = messages.split(separator: "\n", omittingEmptySubsequences: true).suffix(5).joined(separator: "\n")
        let shown = PlainText.escape(String(text.suffix(Self.shownMessages)))
        return shown.isEmpty ? ", and wrote no reason to its standard error" : "; its last words: \(shown)"
    }
}
