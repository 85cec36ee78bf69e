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

    /// Streams are painted at most so often, and less often while more than two actions run; keys at once.
    private static let framePause = Duration.milliseconds(40)
    private static let burstPause = Duration.milliseconds(100)

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
                    terminal: terminal,
                    painter: Painter(
                        level: theme == .plain ? .none : level, theme: theme, showsLinks: true),
                    environment: context.host.environment)
                screen.begin()
                var model = ShellModel(
                    name: context.host.name, registry: context.registry, keys: KeyMap(settings.keys),
                    size: terminal.size,
                    look: PaneLook(level: level, now: context.host.now()))
                model.showsPictures = TerminalPicture.isShown(in: context.host.environment)
                restore(&model)
                if let first { model.open(first.id, first.arguments) }
                if let recording { model.read(.recording(name: recording.name, recording.block)) }
                let work = ShellWork(context: context, terminal: terminal, inbox: inbox)
                let result: Result<Void, any Error>
                do { result = .success(try await loop(&model, &screen, work, &group)) } catch {
                    result = .failure(error)
                }
                // An action that takes its time to stop is waited for without the screen, where Ctrl-C works again.
                await terminal.leave()
                group.cancelAll()
                keep(model.state)
                try result.get()
            }
        }
    }

    private static let stateFile = "shell.json"

    private func restore(_ model: inout ShellModel) {
        do {
            model.restore(try ShellState(file: "\(context.host.locations.state)/\(Self.stateFile)"))
        } catch {
            model.say("what was open is forgotten: \(AnyFailure(error).message)", isFailure: true)
        }
    }

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
        var painted = clock.now - Self.burstPause
        var isDue = true
        while !model.isOver {
            for effect in model.takeEffects() { try await work.carryOut(effect, &screen, &group) }
            if model.isOver { return }
            let isBurst = model.runs.running.count > 2
            let pause = (isBurst ? Self.burstPause : Self.framePause) - (clock.now - painted)
            if isDue && pause <= .zero {
                model.look.now = context.host.now()
                screen.paint(&model)
                screen.say(title: model.windowTitle, isBusy: !model.runs.running.isEmpty)
                (painted, isDue) = (clock.now, false)
            }
            let (events, changed) = try await work.inbox.next(within: isDue ? pause : nil, on: clock)
            let now = clock.now - start
            // What was pressed was meant for what is seen, so it comes before what has changed since.
            for event in events {
                switch event {
                case .input(.reply(let reply)): screen.take(reply)
                case .resized: screen.repaint()
                case .continued: screen.begin()
                default: break
                }
                // What is typed is seen at once.
                if case .input = event { painted = clock.now - Self.burstPause }
                model.handle(event, at: now)
            }
            for id in changed {
                guard let state = work.state(of: id) else { continue }
                // The first value of a screen was waited for, so it is seen at once too.
                if state.block != nil, model[id]?.state.block == nil { painted = clock.now - Self.burstPause }
                model.handle(.state(id, state), at: now)
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
