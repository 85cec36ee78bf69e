import Synchronization

@testable import AuthSignIn

/// A door that a test closes, so that it can wait for somebody to stand before it.
final class Gate: Sendable {
    private struct State {
        var door: SharedWork<Void>?
        var arrived: SharedWork<Void>?
    }

    private let state = Mutex(State())

    func close() {
        state.withLock { $0 = State(door: SharedWork(), arrived: SharedWork()) }
    }

    func open() {
        state.withLock { $0.door }?.finish(.success(()))
    }

    /// Waits until the door is open.
    func pass() async {
        let (door, arrived) = state.withLock { ($0.door, $0.arrived) }
        arrived?.finish(.success(()))
        // Only a cancelled wait throws, and then it goes on at once.
        do { try await door?.value() } catch {}
    }

    /// Waits until somebody stands before the closed door.
    func waitForArrival() async throws {
        try await state.withLock { $0.arrived }?.value()
    }
}
