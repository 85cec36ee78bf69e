import Capabilities
import Registry
import Synchronization

/// Prints what an action says as whole lines, at most once a second, so that a screen reader can follow.
final class PlainOutput: ActionOutput {
    private let context: ActionContext
    private let state = Mutex(State())

    private struct State {
        var waiting = ""
        var last: Timestamp?
        var hasText = false
        var progress = ""
        var lastProgress: Timestamp?
    }

    /// The time between two announcements.
    private static let pause = Duration.seconds(1)

    init(context: ActionContext) { self.context = context }

    /// Whether the action has sent text.
    var hasText: Bool { state.withLock { $0.hasText } }

    func event(_ event: ActionEvent) async throws {
        guard let text = event.text, !text.isEmpty else { return }
        state.withLock { state in
            state.hasText = true
            state.waiting += text
        }
        try await announce(isLast: false)
    }

    func progress(_ progress: Progress) {
        // The same activity again says nothing.
        let now = context.host.now()
        let isNew = state.withLock { state in
            guard state.progress != progress.activity, state.lastProgress.map({ now - $0 >= Self.pause }) ?? true else {
                return false
            }
            (state.progress, state.lastProgress) = (progress.activity, now)
            return true
        }
        if isNew { context.notice(progress.activity) }
    }

    func notice(_ text: String) { context.notice(text) }

    /// Prints what is left.
    func finish() async throws { try await announce(isLast: true) }

    /// Prints whole lines if the time has come.
    private func announce(isLast: Bool) async throws {
        let now = context.host.now()
        let text = state.withLock { state -> String? in
            guard isLast || state.last.map({ now - $0 >= Self.pause }) ?? true else { return nil }
            let end =
                isLast
                ? state.waiting.endIndex : state.waiting.lastIndex { $0.isNewline }.map(state.waiting.index(after:))
            guard let end, end > state.waiting.startIndex else { return nil }
            let text = String(state.waiting[..<end])
            state.waiting.removeSubrange(..<end)
            state.last = now
            return text
        }
        guard let text else { return }
        let isWhole = text.last?.isNewline == true
        try await context.emit(PlainShell.printed.event((), text: isLast && !isWhole ? text + "\n" : text))
    }
}
