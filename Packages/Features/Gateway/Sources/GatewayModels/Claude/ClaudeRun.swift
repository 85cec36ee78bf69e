import Capabilities
import JSON
import ProcessKit
import SandboxKit
import Synchronization
import TurnLoop

/// One turn of the command.
struct ClaudeRun: Sendable {
    /// An error of the reader of the events, which ends the turn with exactly that error.
    struct EmitFailure: Error {
        let error: any Error
    }

    let claude: ClaudeCommand
    let order: ClaudeOrder
    let sandbox: ClaudeSandbox?
    let policy: ApprovalPolicy
    let approve: TurnLoop.Approve?
    let admit: ClaudeCommand.Admit
    let emit: TurnLoop.Emit
    let inbox = ClaudeInbox()

    init(
        _ claude: ClaudeCommand, _ order: ClaudeOrder, sandbox: ClaudeSandbox?, policy: ApprovalPolicy,
        approve: TurnLoop.Approve?, admit: @escaping ClaudeCommand.Admit, emit: @escaping TurnLoop.Emit
    ) {
        self.claude = claude
        self.order = order
        self.sandbox = sandbox
        self.policy = policy
        self.approve = approve
        self.admit = admit
        self.emit = emit
    }

    func run() async throws -> TurnOutcome {
        guard !Task.isCancelled else { return TurnOutcome(end: .stopped) }
        // Runs in a new task, because a cancelled task could not ask the process to stop. It is awaited here.
        let worker = Task { try await work() }
        defer { inbox.close() }
        return try await withTaskCancellationHandler {
            try await worker.value
        } onCancel: {
            inbox.stop(worker, after: claude.limits.grace, on: claude.clock)
        }
    }

    private func work() async throws -> TurnOutcome {
        var talk = ClaudeTalk(self)
        var problem: AnyFailure?
        do {
            var command = order.command(claude.program, claude.environment)
            let span = ProcessSpan(of: claude.program)
            command.environment.variables.merge(span.variables(withState: false)) { given, _ in given }
            let prepared = try await sandbox?.prepare(command)
            // Guards of paths in the folder must stay until the command has ended.
            defer { withExtendedLifetime(prepared) {} }
            if let prepared {
                talk.permissions.walls = prepared.walls
                command = prepared.sandboxed.command.started(like: command)
            }
            command.span = span
            // A cancelled task has already granted the grace period.
            try await claude.launcher.withChild(command, grace: .zero) { child in
                defer { talk.errors = child.errorTail }
                inbox.begin(child)
                do {
                    try await talk.run(with: child)
                } catch {
                    if !Task.isCancelled { await child.terminate(grace: claude.limits.grace) }
                    throw error
                }
                await child.terminate(grace: claude.limits.grace)
            }
            // A message of bubblewrap means that the sandbox failed and the command never ran.
            if let failure = prepared?.sandboxed.failure(talk.status, errors: talk.errors), !talk.isStopping {
                problem = AnyFailure(failure)
            }
        } catch let failure as EmitFailure {
            throw failure.error
        } catch is CancellationError {
            talk.isStopping = true
        } catch let error as ProcessError where [.notFound, .notExecutable, .workingDirectory].contains(error.kind) {
            problem = AnyFailure(
                GatewayModelsError(.claudeMissing, "cannot run the claude command: \(error.message)", cause: error))
        } catch {
            problem = AnyFailure(error)
        }
        let (outcome, events) = talk.outcome(problem)
        // The last events must be stored even if the turn was cancelled.
        try await shielded { try await emit(events) }
        return outcome
    }
}

extension Command {
    /// The same command with the input and the end of another one.
    fileprivate func started(like other: Command) -> Command {
        var command = self
        (command.input, command.endsWithParent) = (other.input, other.endsWithParent)
        return command
    }
}

/// An event that a running turn must handle.
enum ClaudeNews: Sendable {
    case line([UInt8])
    /// The output could not be read to its end.
    case unreadable(AnyFailure)
    case outputEnded
    case exited(ChildStatus)
    case answered(String, Result<ApprovalAnswer, any Error>)
    /// An approval request was not answered in time.
    case expired(String)
    /// The user stopped the turn.
    case stopped
    /// The process did not exit in time after this number of lines.
    case overdue(after: Int)
}

/// A queue for all events of a turn, so that one task handles them one after another.
final class ClaudeInbox: Sendable {
    let news: AsyncStream<ClaudeNews>
    private let posting: AsyncStream<ClaudeNews>.Continuation
    private let permits: AsyncStream<Void>
    private let permitting: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    private struct State {
        var child: ChildProcess?
        var isStopped = false
        /// `close` cancels it.
        var alarm: Task<Void, Never>?
    }

    init() {
        (news, posting) = AsyncStream.makeStream()
        (permits, permitting) = AsyncStream.makeStream()
    }

    func post(_ news: ClaudeNews) { posting.yield(news) }

    /// Reads lines of the process, each after the previous one was handled, so that a slow reader slows the process.
    func read(_ output: OutputPipe, limit: Int) async {
        var next = permits.makeAsyncIterator()
        do {
            while let line = try await output.nextLine(limit: limit) {
                post(.line(line))
                guard await next.next() != nil else { return }
            }
        } catch {
            if !(error is CancellationError) { post(.unreadable(AnyFailure(error))) }
        }
        post(.outputEnded)
    }

    /// Tells that the last line was handled.
    func permitNextLine() { permitting.yield() }

    /// Sets the process to end when the turn is stopped.
    func begin(_ child: ChildProcess) {
        let isStopped = state.withLock { state in
            state.child = child
            return state.isStopped
        }
        if isStopped { child.send(.terminate) }
    }

    /// Asks the turn to end, and cancels its task if that takes too long. The process gets its signal here, because the
    /// task may be waiting for a client that reads nothing.
    func stop(_ worker: Task<TurnOutcome, any Error>, after limit: Duration, on clock: any Clock<Duration>) {
        post(.stopped)
        let alarm = Task {
            // Cancelled when the turn has ended.
            do { try await clock.sleep(for: limit) } catch { return }
            worker.cancel()
        }
        let child = state.withLock { state in
            state.isStopped = true
            state.alarm = alarm
            return state.child
        }
        child?.send(.terminate)
    }

    func close() {
        posting.finish()
        permitting.finish()
        state.withLock { state in
            state.alarm?.cancel()
            state.child = nil
        }
    }
}
