import Capabilities
import FileKit
import JSON
import Registry
import Screens
import Synchronization
import TerminalKit

/// Runs a shell on the terminal: reads keys, does what the model wants, and paints what it shows.
struct ShellProgram: Sendable {
    let context: ActionContext
    let settings: ShellSettings

    /// Streams are painted at most so often; keys at once.
    private static let framePause = Duration.milliseconds(40)

    /// Runs until the person quits.
    func run(
        showing first: (id: String, arguments: JSONObject)?, replaying recording: (name: String, block: Block)? = nil
    ) async throws {
        var options = FullScreenTerminal.Options()
        options.hasMouse = settings.mouse
        options.setsTitle = true
        try options.check()
        // The first frame waits for no answer of the terminal.
        let theme = Theme.chosen?.known ?? .dark
        let level =
            context.isColored
            ? ColorLevel.detect(choice: .auto, isTerminal: true, environment: context.host.environment) : .none
        try await FullScreenTerminal.with(options) { terminal in
            try await withThrowingDiscardingTaskGroup { group in
                let inbox = Inbox()
                group.addTask { await Self.read(terminal, into: inbox) }
                var screen = ShellScreen(
                    terminal: terminal, painter: Painter(level: theme == .plain ? .none : level, theme: theme),
                    environment: context.host.environment)
                screen.ask()
                var model = ShellModel(
                    name: context.host.name, registry: context.registry, keys: KeyMap(settings.keys),
                    size: terminal.size,
                    look: PaneLook(level: level, now: context.host.now()))
                model.restore(ShellState(file: "\(context.host.locations.state)/\(Self.stateFile)"))
                if let first { model.open(first.id, first.arguments) }
                if let recording { model.read(.recording(name: recording.name, recording.block)) }
                defer {
                    group.cancelAll()
                    keep(model.state)
                }
                try await loop(&model, &screen, ShellWork(context: context, terminal: terminal, inbox: inbox), &group)
            }
        }
    }

    private static let stateFile = "shell.json"

    private func keep(_ state: ShellState) {
        do throws(FileError) {
            try state.write(to: Self.stateFile, in: context.host.locations.state, context.host.redactor)
        } catch {
            context.notice("what was open is not remembered: \(error.message)")
        }
    }

    private func loop(
        _ model: inout ShellModel, _ screen: inout ShellScreen, _ work: ShellWork,
        _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var painted = clock.now - Self.framePause
        var isDue = true
        while !model.isOver {
            for effect in model.takeEffects() { try await work.carryOut(effect, &screen, &group) }
            if model.isOver { return }
            let pause = Self.framePause - (clock.now - painted)
            if isDue && pause <= .zero {
                model.look.now = context.host.now()
                screen.paint(&model)
                screen.say(title: model.windowTitle, isBusy: !model.runs.running.isEmpty)
                (painted, isDue) = (clock.now, false)
            }
            let (events, changed) = try await work.inbox.next(within: isDue ? pause : nil, on: clock)
            let now = clock.now - start
            for id in changed {
                guard let state = work.state(of: id) else { continue }
                // The first value of a screen was waited for, so it is seen at once too.
                if state.block != nil, model[id]?.state.block == nil { painted = clock.now - Self.framePause }
                model.handle(.state(id, state), at: now)
            }
            for event in events {
                switch event {
                case .input(.reply(let reply)): screen.take(reply)
                case .resized: screen.repaint()
                case .continued:
                    screen.repaint()
                    screen.ask()
                default: break
                }
                // What is typed is seen at once.
                if case .input = event { painted = clock.now - Self.framePause }
                model.handle(event, at: now)
            }
            isDue = isDue || !events.isEmpty || !changed.isEmpty
        }
    }

    /// Reads the terminal until it is gone or the shell ends.
    private static func read(_ terminal: FullScreenTerminal, into inbox: Inbox) async {
        var decoder = InputDecoder()
        while true {
            let begun = ContinuousClock.now
            do throws(TerminalError) {
                switch try await terminal.read(limit: decoder.patience) {
                case .bytes(let bytes):
                    for event in decoder.receive(bytes, after: ContinuousClock.now - begun) {
                        inbox.push(.input(event))
                    }
                case .quiet: for event in decoder.stopWaiting() { inbox.push(.input(event)) }
                case .resized: inbox.push(.resized(terminal.size))
                // The screen is empty, and has forgotten what it was told.
                case .continued, .lost: inbox.push(.continued(terminal.size))
                case .room: inbox.push(.room)
                case .end: return inbox.push(.gone)
                }
            } catch {
                // A signal that ends the program also cancels this shell.
                if error.kind != .interrupted && error.kind != .cancelled { inbox.push(.gone) }
                return
            }
        }
    }
}

/// The terminal and what it shows.
struct ShellScreen: Sendable {
    let terminal: FullScreenTerminal
    private var painter: Painter
    /// Whether the terminal is known to show progress. Others show the sequence as a message.
    private let showsProgress: Bool
    private var title = ""
    private var isBusy = false

    init(terminal: FullScreenTerminal, painter: Painter, environment: [String: String]) {
        self.terminal = terminal
        self.painter = painter
        showsProgress =
            environment["WT_SESSION"] != nil || environment["TERM_PROGRAM"] == "ghostty"
    }

    /// Tells the window what is shown, and whether something runs.
    mutating func say(title: String, isBusy: Bool) {
        if title != self.title {
            // Terminals show titles elsewhere, where what is not seen may do harm.
            let text = PlainText.escape(title, limit: 200)
            if terminal.offer(frame: Array("\u{1B}]2;\(text)\u{1B}\\".utf8)) == .written { self.title = title }
        }
        if showsProgress, isBusy != self.isBusy {
            if terminal.show(isBusy ? .indeterminate : .none) == .written { self.isBusy = isBusy }
        }
    }

    /// Asks what is behind the text, whether frames can be shown as a whole, and to be told when the person changes to a
    /// dark or a light theme. Nobody waits for the answers.
    func ask() {
        terminal.ask(Array("\u{1B}]11;?\u{1B}\\\u{1B}[?2031h\u{1B}[?2026$p\u{1B}[?u\u{1B}[c".utf8))
    }

    mutating func take(_ reply: TerminalReply) {
        switch reply {
        case .mode(2026, let value): painter.isSynchronized = value == 1 || value == 2
        case .attributes: terminal.repliesHaveCome()
        case .color(.background, let color): use(TerminalBackground(color))
        case .theme(let background): use(background)
        default: break
        }
    }

    private mutating func use(_ background: TerminalBackground) {
        if let theme = Theme.chosen?(on: background) { painter.theme = theme }
    }

    /// Paints what has changed. If the terminal does not take it, all of it is painted later.
    mutating func paint(_ model: inout ShellModel) {
        let (cells, caret) = model.draw()
        let before = painter
        let frame = painter.frame(showing: cells, caret: caret)
        guard !frame.isEmpty else { return }
        switch terminal.offer(frame: frame.bytes) {
        case .written, .waiting: break
        case .refused, .hidden: painter = before
        }
    }

    mutating func repaint() { painter.invalidate() }
    func write(_ text: String) { terminal.offer(frame: Array(text.utf8)) }
}

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

    func state(of id: ViewID) -> ScreenState? { state.withLock { $0.views[id] }?.state }

    func carryOut(
        _ effect: ShellEffect, _ screen: inout ShellScreen, _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws {
        switch effect {
        case .open(let id, let name, let arguments):
            let task = owned(by: &group) { await self.show(id, name, arguments) }
            state.withLock { $0.viewTasks[id] = task }
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
            let task = owned(by: &group) { await self.perform(id, action, arguments) }
            state.withLock { $0.runs[id] = task }
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
                    inbox.push(.rows(id, path: path, .failure(AnyFailure(error))))
                }
            }
        case .copy(let text): copy(text, &screen)
        case .edit(let id, let text): try await edit(text, for: id, &screen)
        case .ring: screen.write("\u{07}")
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

    // MARK: Screens

    private func show(_ id: ViewID, _ name: String, _ arguments: JSONObject) async {
        do {
            try await context.session.open(
                name, arguments, as: person, output: ShellOutput(run: nil, inbox: inbox)
            ) { [self] view in
                state.withLock { state in
                    state.views[id] = view
                    // It may have been left before it was open.
                    if state.hidden.contains(id) { view.isVisible = false }
                }
                for try await _ in view.states { inbox.change(id) }
            }
        } catch {
            if !(error is CancellationError) { inbox.push(.refused(id, AnyFailure(error))) }
        }
    }

    // MARK: Actions

    private func perform(_ id: RunID, _ action: String, _ arguments: JSONObject) async {
        let caller = context.caller.narrowed(by: nil, asking: ShellPerson(work: self, run: id))
        let result: Result<RunResult, AnyFailure>
        do {
            let value = try await context.session.perform(
                action, arguments, as: caller, output: ShellOutput(run: id, inbox: inbox))
            let schema = context.registry.actions[action]?.result ?? .any
            result = .success(RunResult(json: value.json, schema: schema, exit: value.exit))
        } catch {
            result = .failure(AnyFailure(error))
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
            try screen.terminal.copy(text)
            inbox.push(
                .notice(nil, "sent \(text.count) characters to the terminal, which may keep them from its clipboard"))
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
    func answer(_ question: Question) async throws -> Answer { try await work.ask(question, for: run) }

    func lendTerminal(to command: [String], environment: [String: String]) async throws -> Int32? {
        try await work.lend(to: command, environment)
    }
}

/// Takes what an action says.
struct ShellOutput: ActionOutput {
    /// The action; nil for the body of a screen.
    let run: RunID?
    let inbox: Inbox

    func event(_ event: ActionEvent) async throws {
        guard let run, let text = event.text else { return }
        // The shell is behind: the action goes on when there is room.
        while inbox.append(text, to: run) { return try await Task.sleep(for: .milliseconds(20)) }
    }

    func progress(_ progress: Progress) { if let run { inbox.progress(run, progress) } }
    func notice(_ text: String) { inbox.push(.notice(run, text)) }
}
