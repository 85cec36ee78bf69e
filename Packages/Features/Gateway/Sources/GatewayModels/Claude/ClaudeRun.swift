import Capabilities
import JSON
import ProcessKit
import SandboxKit
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
