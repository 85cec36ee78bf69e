import Capabilities
import FileKit
import JSON
import Registry
import Screens
import Synchronization
import TerminalKit

/// What the shell does besides showing: opens screens, performs actions, and asks what they ask.
final class ShellWork: Sendable {
    let inbox: Inbox
    private let context: ActionContext
    private let terminal: FullScreenTerminal
    private let state = Mutex(State())

    private struct State {
        var views: [ViewID: OpenScreen] = [:]
        var hidden: Set<ViewID> = []
        var viewTasks: [ViewID: Task<Void, Never>] = [:]
        var runs: [RunID: Task<Void, Never>] = [:]
        var answers: [QuestionID: Promise<Answer>] = [:]
        var nextQuestion = 1
    }

    init(context: ActionContext, terminal: FullScreenTerminal, inbox: Inbox) {
        self.context = context
        self.terminal = terminal
        self.inbox = inbox
    }

    /// What a screen shows now. Failures are shown as everywhere: without secrets.
    func state(of id: ViewID) -> ScreenState? {
        switch state.withLock({ $0.views[id] })?.state {
        case .failed(let failure, let last): .failed(shown(failure), last: last)
        case let state: state
        }
    }

    private func shown(_ error: any Error) -> AnyFailure {
        AnyFailure(ShownFailure(AnyFailure(error), context.host.redactor))
    }

    func carryOut(
        _ effect: ShellEffect, _ screen: inout ShellScreen, _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws {
        switch effect {
        case .open(let id, let name, let arguments):
            // Registered before it begins, which may be its end as well.
            state.withLock { state in
                state.viewTasks[id] = owned(by: &group) { await self.show(id, name, arguments) }
            }
        case .close(let id):
            state.withLock { state in
                state.views[id] = nil
                state.hidden.remove(id)
                return state.viewTasks.removeValue(forKey: id)
            }?.cancel()
        case .see(let id, let isVisible):
            state.withLock { state in
                if isVisible { state.hidden.remove(id) } else { state.hidden.insert(id) }
                state.views[id]?.isVisible = isVisible
            }
        case .refresh(let id): state.withLock { $0.views[id] }?.refresh()
        case .perform(let id, let action, let arguments):
            state.withLock { state in
                state.runs[id] = owned(by: &group) { await self.perform(id, action, arguments) }
            }
        case .submit(let id, let action, let arguments, let files):
            state.withLock { state in
                state.runs[id] = owned(by: &group) { await self.perform(id, action, arguments, naming: files) }
            }
        case .complete(let request):
            group.addTask { [inbox, context] in
                do {
                    inbox.push(.completed(request, .success(try WordCompletion(context: context).matches(request))))
                } catch {
                    inbox.push(.completed(request, .failure(self.shown(error))))
                }
            }
        case .cancel(let id): state.withLock { $0.runs[id] }?.cancel()
        case .answer(let id, let answer):
            let promise = state.withLock { $0.answers.removeValue(forKey: id) }
            if let answer {
                promise?.settle(answer)
            } else {
                promise?.settle(with: .failure(CancellationError()))
            }
        case .wait(let timer, let duration):
            group.addTask { [inbox, clock = context.host.clock] in
                do { try await clock.sleep(for: duration) } catch { return }
                inbox.push(.timer(timer))
            }
        case .rows(let id, let path, let source, let request):
            group.addTask { [inbox] in
                do {
                    inbox.push(.rows(id, path: path, .success(try await source.rows(request))))
                } catch {
                    inbox.push(.rows(id, path: path, .failure(self.shown(error))))
                }
            }
        case .copy(let text): copy(text, &screen)
        case .edit(let id, let text): try await edit(text, for: id, &screen)
        case .cover(let picture, let caption): screen.cover(with: picture, caption: caption)
        case .uncover: screen.uncover()
        case .ring: screen.ring()
        case .suspend: screen.terminal.suspend()
        case .repaint: screen.repaint()
        case .quit: break
        }
    }

    /// Starts work that can be cancelled by itself. The group awaits it, and cancels it with everything else.
    private func owned(
        by group: inout ThrowingDiscardingTaskGroup<any Error>, _ work: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        let task = Task { await work() }
        group.addTask {
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
        return task
    }

    private var person: Caller {
        context.caller.narrowed(by: nil, asking: ShellPerson(work: self, run: RunID(number: 0)))
    }

    /// The answers that the command was given.
    var given: any Interaction { context.interaction.unattended }

    // MARK: Screens

    private func show(_ id: ViewID, _ name: String, _ arguments: JSONObject) async {
        do {
            try await context.session.open(
                name, arguments, as: person,
                output: ShellOutput(run: nil, inbox: inbox, redactor: context.host.redactor)
            ) { [self] view in
                state.withLock { state in
                    // It may have been closed or left before it was open.
                    guard state.viewTasks[id] != nil else { return }
                    state.views[id] = view
                    if state.hidden.contains(id) { view.isVisible = false }
                }
                for try await _ in view.states { inbox.change(id) }
            }
        } catch {
            if !(error is CancellationError) { inbox.push(.refused(id, shown(error))) }
        }
    }

    // MARK: Actions

    private func perform(
        _ id: RunID, _ action: String, _ given: JSONObject, naming files: MentionedFiles? = nil
    ) async {
        let arguments = files?.added(to: given, in: context, telling: { inbox.push(.notice(id, $0)) }) ?? given
        let caller = context.caller.narrowed(by: nil, asking: ShellPerson(work: self, run: id))
        let result: Result<RunResult, AnyFailure>
        let declaration = context.registry.actions[action]
        for parameter in declaration?.parameters ?? [] where parameter.isSecret {
            if let text = arguments[parameter.name]?.string { context.host.redactor.learn(Secret(text)) }
        }
        do {
            let value = try await context.session.perform(
                action, arguments, as: caller,
                output: ShellOutput(run: id, inbox: inbox, redactor: context.host.redactor))
            let line = RunResult.line(of: value.json).map { context.host.redactor.redact($0) }
            result = .success(
                RunResult(json: value.json, schema: declaration?.result ?? .any, exit: value.exit, line: line))
        } catch {
            result = .failure(shown(error))
        }
        state.withLock { _ = $0.runs.removeValue(forKey: id) }
        inbox.push(.ended(id, result))
    }

    /// Waits for the person to answer.
    func ask(_ question: Question, for run: RunID) async throws -> Answer {
        let promise = Promise<Answer>()
        let id = state.withLock { state in
            let id = QuestionID(number: state.nextQuestion)
            state.nextQuestion += 1
            state.answers[id] = promise
            return id
        }
        inbox.push(.question(id, run, question))
        do {
            return try await promise.value()
        } catch {
            let wasOpen = state.withLock { $0.answers.removeValue(forKey: id) } != nil
            if wasOpen { inbox.push(.withdrawn(id)) }
            if Task.isCancelled { throw error }
            throw InteractionError.declined(id: question.id)
        }
    }

    // MARK: The terminal

    func lend(to command: [String], _ environment: [String: String]) async throws -> Int32 {
        try await terminal.lend(to: command, environment: environment)
    }

    private func copy(_ text: String, _ screen: inout ShellScreen) {
        do throws(TerminalError) {
            switch try screen.terminal.copy(text) {
            case .written, .waiting:
                inbox.push(
                    .notice(
                        nil, "sent \(text.count) characters to the terminal, which may keep them from its clipboard"))
            case .refused, .hidden:
                inbox.push(.notice(nil, "not copied: the terminal is busy; try again"))
            }
        } catch {
            inbox.push(.notice(nil, error.message))
        }
    }

    private func edit(_ text: String, for id: ViewID, _ screen: inout ShellScreen) async throws {
        let environment = context.host.environment
        guard
            let editor = [environment["VISUAL"], environment["EDITOR"]].compactMap({ $0 }).first(where: { !$0.isEmpty })
        else { return inbox.push(.notice(nil, "set EDITOR to the editor to use")) }
        do {
            let edited = try await EditedFile.edit(
                text, with: editor, in: context.host.locations.cache, on: screen.terminal)
            inbox.push(.edited(id, edited))
        } catch {
            inbox.push(.notice(nil, AnyFailure(error).message))
        }
        screen.repaint()
    }
}

/// Answers the questions of an action by asking in the shell.
struct ShellPerson: Interaction {
    let work: ShellWork
    let run: RunID

    var canAsk: Bool { true }
    var showsForms: Bool { true }
    /// Only answers that the command was given count.
    var unattended: any Interaction { work.given }
    func answer(_ question: Question) async throws -> Answer { try await work.ask(question, for: run) }

    func lendTerminal(to command: [String], environment: [String: String]) async throws -> Int32? {
        try await work.lend(to: command, environment)
    }
}

/// Takes what an action says, without secrets.
struct ShellOutput: ActionOutput {
    /// The action; nil for the body of a screen.
    let run: RunID?
    let inbox: Inbox
    let redactor: Redactor

    func event(_ event: ActionEvent) async throws {
        if let run, let picture = Picture(event) { inbox.push(.picture(run, picture)) }
        guard let run, let text = event.text else { return }
        inbox.append(text, to: run)
        // While the shell is behind, the action waits.
        while inbox.isBehind(run) { try await Task.sleep(for: .milliseconds(20)) }
    }

    func progress(_ progress: Progress) {
        guard let run else { return }
        var progress = progress
        progress.activity = redactor.redact(progress.activity)
        inbox.progress(run, progress)
    }

    func notice(_ text: String) { inbox.push(.notice(run, redactor.redact(text))) }

    var showsBlocks: Bool { run != nil }

    func show(_ block: Block) {
        if let run { inbox.show(block, of: run) }
    }
}

/// A failure as it is shown: what it says without secrets.
private struct ShownFailure: Failure {
    let code: String
    let message: String
    let exit: ExitCode

    init(_ failure: AnyFailure, _ redactor: Redactor) {
        (code, exit) = (failure.code, failure.exit)
        message = redactor.redact(failure.message)
    }
}
