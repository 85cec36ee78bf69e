import Capabilities
import Synchronization

/// The token that counts in a gateway that runs. Another one that was made meanwhile counts as soon as somebody shows it,
/// and the old one ends then.
final class LiveToken: Sendable {
    private struct State {
        var token: Secret
        var lookedAt: Timestamp?
        /// Whoever shows another token meanwhile awaits it.
        var looking: Task<Secret?, Never>?
    }

    /// Strangers who show wrong tokens must not keep the vault busy.
    private static let interval = Duration.seconds(1)

    private let state: Mutex<State>
    private let now: @Sendable () -> Timestamp
    private let read: @Sendable () async -> Secret?

    /// - Parameter read: gives the token as it is kept; nil where that cannot be said now.
    init(_ token: Secret, now: @escaping @Sendable () -> Timestamp, read: @escaping @Sendable () async -> Secret?) {
        state = Mutex(State(token: token))
        self.now = now
        self.read = read
    }

    /// Whether it is the one that is known here.
    func equals(_ shown: Secret) -> Bool { shown.equals(state.withLock(\.token)) }

    /// Whether it is the one that is kept, also one that was made meanwhile.
    func accepts(_ shown: Secret) async -> Bool {
        if equals(shown) { return true }
        guard let token = await renewed() else { return false }
        return shown.equals(token)
    }

    /// Nil when it was looked at just now.
    private func renewed() async -> Secret? {
        let time = now()
        let looking = state.withLock { state -> Task<Secret?, Never>? in
            if let looking = state.looking { return looking }
            if let last = state.lookedAt, (.zero..<Self.interval).contains(time - last) { return nil }
            let looking = Task { await look() }
            (state.lookedAt, state.looking) = (time, looking)
            return looking
        }
        return await looking?.value
    }

    private func look() async -> Secret? {
        let found = await read()
        return state.withLock { state in
            state.looking = nil
            if let found { state.token = found }
            return found
        }
    }
}
