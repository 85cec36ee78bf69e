import Capabilities
import JSON
import ProcessKit
import SandboxKit
import Synchronization
import TurnLoop

/// One turn of the command.
struct ClaudeRun: Sendable {
    /// What the reader of the events has thrown, which ends the turn with that error and no other.
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
        // A task of its own, because a cancelled one could not ask the process to stop. It is awaited right here.
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
            let prepared = try await sandbox?.prepare(command)
            // What is guarded in the folder stays guarded until the command has ended.
            defer { withExtendedLifetime(prepared) {} }
            if let prepared {
                talk.permissions.walls = prepared.walls
                command = prepared.sandboxed.command.started(like: command)
            }
            // A task that is cancelled has given it its time before.
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
            // Bubblewrap's words are about the sandbox, which the command never was in.
            if let failure = prepared?.sandboxed.failure(talk.status, errors: talk.errors), !talk.isStopping {
                problem = AnyFailure(failure)
            }
        } catch let failure as EmitFailure {
            throw failure.error
        } catch is CancellationError {
            talk.isStopping = true
        } catch let error as ProcessError where [.notFound, .notExecutable, .workingDirectory].contains(error.kind) {
            problem = AnyFailure(
                GatewayModelsError(.claudeMissing, "the claude command cannot be used: \(error.message)", cause: error))
        } catch {
            problem = AnyFailure(error)
        }
        let (outcome, events) = talk.outcome(problem)
        // What is to be stored gets there, also when the turn was cancelled.
        try await Task { try await emit(events) }.value
        return outcome
    }
}

extension Command {
    /// The same program, spoken to and ended as another one.
    fileprivate func started(like other: Command) -> Command {
        var command = self
        (command.input, command.endsWithParent) = (other.input, other.endsWithParent)
        return command
    }
}

/// Something that a running turn has to deal with.
enum ClaudeNews: Sendable {
    case line([UInt8])
    /// The output could not be read to its end.
    case unreadable(AnyFailure)
    case outputEnded
    case exited(ChildStatus)
    case answered(String, Result<ApprovalAnswer, any Error>)
    /// Nobody has answered a request in time.
    case expired(String)
    /// The person wants the turn to end.
    case stopped
    /// The process has not gone by itself since so many lines were read.
    case overdue(after: Int)
}

/// Brings all news of a turn into one order, so that one task deals with one thing after another.
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

    /// Reads the process's lines, each when the one before was dealt with, so that a slow reader slows the process.
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

    /// The last line was dealt with.
    func permitNextLine() { permitting.yield() }

    /// Says which process is to end when the turn is stopped.
    func begin(_ child: ChildProcess) {
        let isStopped = state.withLock { state in
            state.child = child
            return state.isStopped
        }
        if isStopped { child.send(.terminate) }
    }

    /// Asks for the turn's end, and cancels its task when that takes too long. The process is asked right here: the task
    /// may be waiting for a client that reads nothing.
    func stop(_ worker: Task<TurnOutcome, any Error>, after limit: Duration, on clock: any Clock<Duration>) {
        post(.stopped)
        let alarm = Task {
            // Cut short when the turn has ended by itself.
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
