import CProcessKit
import Capabilities
import LoopKit
import Synchronization

/// Starts child processes and owns the one thread that watches them all, from the first child to its own end.
///
///     let launcher = Launcher()
///     let result = try await launcher.run(
///         Command("uname", ["-r"], environment: ["PATH": "/usr/bin:/bin"]), timeout: .seconds(5))
public final class Launcher: Sendable {
    private let loop = EventLoop()
    private let isStandalone: Bool

    /// A launcher without a thread; that starts with the first child. It starts nothing for nobody: a caller has to be bound.
    public convenience init() {
        self.init(isStandalone: false)
    }

    private init(isStandalone: Bool) {
        self.isStandalone = isStandalone
    }

    /// One for programs that have no callers, such as tests and benchmarks.
    public static var standalone: Launcher { Launcher(isStandalone: true) }

    deinit {
        loop.stop()
    }

    func requireCaller(for command: Command) throws(AccessFailure) {
        if !isStandalone { try Caller.grantHere.check(.child(command.executable)) }
    }

    /// Runs `body` with a running child, and ends the child and its group before it returns, however `body` ends.
    ///
    /// A child still running then is asked to terminate and killed after `grace`, and so it is as soon as the task is
    /// cancelled. Throws `ProcessError` when the child cannot be started, and what `body` throws.
    public func withChild<Result>(
        _ command: Command, grace: Duration = .seconds(2), isolation: isolated (any Actor)? = #isolation,
        _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        try requireCaller(for: command)
        try Task.checkCancellation()
        // Before there is a child, so that a thread that cannot be had costs nothing.
        do throws(LoopError) { try loop.start() } catch { throw ProcessError.watching(error) }
        // A child that stops reading must be an error of the write, not the end of this process, and one that ends must
        // be there to be asked how.
        processkit_settle_signals()
        let child = try ChildProcess(try Spawn(command), command, loop: loop)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            if case .bytes(let bytes) = command.input { group.addTask { await child.feed(bytes) } }
            if let tail = child.tailPipe { group.addTask { await tail.drain() } }
            let result: Swift.Result<Result, any Error>
            do {
                result = .success(
                    try await withTaskCancellationHandler {
                        try await body(child)
                    } onCancel: {
                        child.send(.terminate)
                    })
            } catch {
                result = .failure(error)
            }
            await child.end(grace: grace)
            return try result.get()
        }
    }
}
