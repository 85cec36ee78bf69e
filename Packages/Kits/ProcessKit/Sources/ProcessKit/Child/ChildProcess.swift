import CProcessKit
import Glibc
import LoopKit
import Synchronization

/// A running child and its process group, available during the closure of `Launcher.withChild`.
///
/// The child is not reaped until the closure ends: while its number is in use, signals to its group reach no other
/// process.
public final class ChildProcess: Sendable {
    /// The number of the process, which is also that of its group.
    public let processID: Int32
    private let pidfd: LoopDescriptor
    private let inputPipe: InputPipe?
    /// Open for as long as the group may live. Nothing is written to it.
    private let lifeline: LoopDescriptor?
    private let outputPipe: OutputPipe?
    private let errorPipe: OutputPipe?
    private let leavesOthers: Bool
    private let isSupervised: Bool
    let tailPipe: TailPipe?
    // Locked while a signal is sent, so that the number cannot be reaped and reused meanwhile.
    private let isReaped = Mutex(false)
    /// The signals that were sent to it, a bit for each.
    private let sent = Atomic<UInt64>(0)

    init(_ spawn: Spawn, _ command: Command, loop: EventLoop) throws(ProcessError) {
        let (pidfd, ends) = try spawn.watch(loop: loop)
        processID = spawn.process
        self.pidfd = pidfd
        leavesOthers = command.leavesOthers
        isSupervised = command.endsDescendants
        inputPipe = ends[0].map(InputPipe.init)
        lifeline = ends[3]
        outputPipe = ends[1].map(OutputPipe.init)
        let errors = ends[2]
        if case .tail(let limit) = command.errors {
            tailPipe = errors.map { TailPipe($0, limit: limit) }
            errorPipe = nil
        } else {
            tailPipe = nil
            errorPipe = errors.map(OutputPipe.init)
        }
    }

    /// The child's input, when the command asked for a pipe.
    public var input: InputPipe {
        get throws(ProcessError) { try connected(inputPipe, "input") }
    }

    /// The child's results, when the command asked for a pipe.
    public var output: OutputPipe {
        get throws(ProcessError) { try connected(outputPipe, "output") }
    }

    /// The child's messages, when the command asked for a pipe.
    public var errors: OutputPipe {
        get throws(ProcessError) { try connected(errorPipe, "errors") }
    }

    /// The last of the child's messages, when the command asked for their tail; empty otherwise.
    public var errorTail: [UInt8] { tailPipe?.bytes() ?? [] }

    /// How many bytes of its messages have been read so far, when the command asked for their tail.
    public var errorCount: Int { tailPipe?.count ?? 0 }

    /// The last of the child's messages after the first `count` bytes.
    public func errorTail(after count: Int) -> [UInt8] { tailPipe?.bytes(after: count) ?? [] }

    /// Waits for the child itself to end. Processes that it started may continue until the closure ends.
    ///
    /// Throws `.timedOut` at the deadline, and leaves the child running.
    public nonisolated(nonsending) func exitStatus(
        until deadline: ContinuousClock.Instant? = nil
    ) async throws -> ChildStatus {
        while true {
            switch life {
            case .ended(let status): return status
            case .lost(let number):
                throw ProcessError.system("get the exit status of process \(processID)", errno: number)
            case .running: break
            }
            switch try await pidfd.readable(until: deadline) {
            case .ready: continue
            case .closed:
                throw ProcessError(.notConnected, "process \(processID) is no longer watched: its scope has ended")
            case .timedOut: throw ProcessError(.timedOut, "process \(processID) did not end in time")
            }
        }
    }

    /// Sends a signal to the child and its group. After the end this does nothing.
    public func send(_ signal: Signal) {
        sent.bitwiseOr(1 << UInt64(signal.rawValue), ordering: .relaxed)
        // The supervisor kills everything, so it must not be killed itself.
        if isSupervised, signal == .kill { lifeline?.close() } else { signalGroup(signal) }
    }

    private func signalGroup(_ signal: Signal) {
        isReaped.withLock { isReaped in
            if !isReaped { _ = kill(-processID, signal.rawValue) }
        }
    }

    /// Ends the group: closes the input, asks it to terminate, and kills the rest when the child has ended or the grace
    /// period is over. If the child has ended by itself and may leave others, these continue. Returns when the child is
    /// gone, even in a cancelled task.
    ///
    /// - Parameter patience: The time for the child to end by itself after its input has ended.
    public nonisolated(nonsending) func terminate(
        patience: Duration = .zero, grace: Duration = .seconds(2)
    ) async {
        inputPipe?.close()
        if patience > .zero { await waitForEnd(atMost: patience) }
        if case .running = life {
            send(.terminate)
            await waitForEnd(atMost: grace)
        } else if leavesOthers {
            return
        }
        // Also after a voluntary end, because its descendants may have ignored the request.
        send(.kill)
        // A killed process ends at once, except while it hangs in a device or a network file system.
        await waitForEnd(atMost: .seconds(5))
        if isSupervised { signalGroup(.kill) }
    }

    private func connected<Pipe>(_ pipe: Pipe?, _ name: String) throws(ProcessError) -> Pipe {
        guard let pipe else {
            throw ProcessError(
                .notConnected, "the \(name) of process \(processID) is not a pipe: set it in the command")
        }
        return pipe
    }
}

extension ChildProcess {
    /// Writes the command's input, then closes it.
    func feed(_ bytes: [UInt8]) async {
        // A child may end without reading all of its input, which is not an error.
        do { try await inputPipe?.write(bytes) } catch {}
        inputPipe?.close()
    }

    func completion(outputLimit: Int) async throws -> Launcher.Completion {
        let output = try output
        let status = try await withThrowingTaskGroup(of: ChildStatus?.self) { group in
            group.addTask {
                try await output.collect(limit: outputLimit)
                return nil
            }
            group.addTask { try await self.exitStatus() }
            defer { group.cancelAll() }
            while let finished = try await group.next() {
                if let status = finished { return status }
            }
            throw CancellationError()
        }
        // Other processes of the group may have the pipe open; they must not write more.
        send(.kill)
        return Launcher.Completion(
            status: status, output: try output.takeRest(limit: outputLimit), errors: errorTail)
    }

    /// Ends the group, reaps the child and closes all pipes.
    ///
    /// - Returns: how the child ended, if that is known, and whether that was because of this program.
    func end(grace: Duration) async -> (status: ChildStatus?, wasStopped: Bool) {
        var wasStopped = if case .running = life { true } else { false }
        await terminate(grace: grace)
        var status: ChildStatus?
        isReaped.withLock { isReaped in
            if case .ended(let ended) = life { status = ended }
            _ = state(WEXITED | WNOHANG)
            isReaped = true
        }
        pidfd.close()
        lifeline?.close()
        outputPipe?.close()
        errorPipe?.close()
        tailPipe?.close()
        if case .signalled(let number) = status, sent.load(ordering: .relaxed) & 1 << UInt64(number) != 0 {
            wasStopped = true
        }
        return (status, wasStopped)
    }

    private func waitForEnd(atMost limit: Duration) async {
        let deadline = ContinuousClock.now + limit
        while case .running = life, await pidfd.readyThroughCancellation(.readable, until: deadline) == .ready {}
    }

    private enum Life {
        case running
        case ended(ChildStatus)
        /// Its exit status is lost: other code or the system has reaped it. The system's error number.
        case lost(Int32)
    }

    private var life: Life {
        guard let (result, state) = state(WEXITED | WNOHANG | WNOWAIT) else { return .running }
        if result != 0 { return .lost(-result) }
        switch Int(state.code) {
        case CLD_EXITED: return .ended(.exited(state.status))
        case CLD_KILLED, CLD_DUMPED: return .ended(.signalled(state.status))
        default: return .running
        }
    }

    /// The system's state of the child. Nil when it is no longer watched.
    private func state(_ flags: Int32) -> (result: Int32, state: processkit_state)? {
        var state = processkit_state()
        return pidfd.withDescriptor { (pidfd, ready) in
            let result = unsafe processkit_wait(pidfd, flags, &state)
            // Still running: there is something to wait for.
            if result == 0, state.code == 0 { ready.remove(.readable) }
            return (result, state)
        }
    }
}

/// How a child process ended.
public enum ChildStatus: Hashable, Sendable {
    /// It ended by itself with this code.
    case exited(Int32)
    /// A signal ended it.
    case signalled(Int32)

    /// The code as a shell shows it: 128 and the signal's number for a child that a signal ended.
    public var code: Int32 {
        switch self {
        case .exited(let code): code
        case .signalled(let number): 128 + number
        }
    }

    /// Whether it ended with code 0.
    public var isSuccess: Bool { self == .exited(0) }
}
