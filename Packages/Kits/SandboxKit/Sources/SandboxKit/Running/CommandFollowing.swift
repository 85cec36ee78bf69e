public import ProcessKit

/// How a command ended.
public struct CommandResult: Sendable {
    /// What it printed, its messages among it.
    public internal(set) var output: OutputExcerpt
    /// Nil where it had to be killed.
    public internal(set) var status: ChildStatus?
    public internal(set) var isOverTime = false
    /// What its sandbox was made by; nil where it had none.
    public internal(set) var engine: SandboxSupport.Kind?
}

/// Takes what a running command prints, until it and all that it has started have ended or have to.
struct CommandFollowing: Sendable {
    /// How long is waited for the rest of what was printed, where somebody out of reach still holds the other end.
    private static let rest = Duration.milliseconds(200)

    let child: ChildProcess
    let output: OutputPipe
    /// Nil for a command that may take any time.
    let limit: Duration?
    let tell: @Sendable (String) async -> Void

    private enum Event: Sendable {
        case output(OutputExcerpt)
        case ended(ChildStatus?)
        case limitIsOver
        case stopped
        case restIsOver
        case cancelled
    }

    /// Ends soon after `stop` does.
    func run(_ stop: AsyncStream<Void>) async -> CommandResult {
        await withTaskGroup(of: Event.self) { group in
            var result = CommandResult(output: OutputExcerpt())
            var hasAll = false
            var isEnding = false
            group.addTask { .output(await take()) }
            group.addTask { .ended(await status()) }
            if let limit { group.addTask { await pause(limit) ? .limitIsOver : .cancelled } }
            group.addTask {
                for await _ in stop {}
                return Task.isCancelled ? .cancelled : .stopped
            }
            for await event in group {
                switch event {
                case .output(let output):
                    (result.output, hasAll) = (output, true)
                case .ended(let status):
                    result.status = status
                    // Those that it has left behind have no time of their own, but for that of a group that was stopped.
                    if !isEnding { child.send(.kill) }
                    group.addTask { await pause(Self.rest) ? .restIsOver : .cancelled }
                case .limitIsOver, .stopped:
                    guard !isEnding, result.status == nil else { continue }
                    isEnding = true
                    if case .limitIsOver = event { result.isOverTime = true }
                    child.send(.terminate)
                    group.addTask { await pause(CommandRunner.grace) ? .restIsOver : .cancelled }
                case .restIsOver: group.cancelAll()
                case .cancelled: continue
                }
                if hasAll, result.status != nil { group.cancelAll() }
            }
            return result
        }
    }

    private func take() async -> OutputExcerpt {
        var excerpt = OutputExcerpt()
        var text = UTF8Pieces()
        do {
            while let bytes = try await output.read() {
                excerpt.add(bytes)
                let piece = text.text(bytes)
                if !piece.isEmpty { await tell(piece) }
            }
        } catch {
            // Cancelled, because nobody waits for the rest: what came until now is what there is.
        }
        let piece = text.rest()
        if !piece.isEmpty { await tell(piece) }
        return excerpt
    }

    private func status() async -> ChildStatus? {
        // It throws when its end is no longer waited for, and then it has none.
        do { return try await child.exitStatus() } catch { return nil }
    }

    /// False when it was cancelled.
    private func pause(_ time: Duration) async -> Bool {
        do {
            try await ContinuousClock().sleep(for: time)
            return true
        } catch {
            return false
        }
    }
}
