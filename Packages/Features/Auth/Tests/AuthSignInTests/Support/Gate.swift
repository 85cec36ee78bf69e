import Capabilities
import Synchronization

@testable import AuthSignIn

/// A gate that a test closes, so that it can wait until a task arrives at it.
final class Gate: Sendable {
    private struct State {
        var door: Promise<Void>?
        var arrived: Promise<Void>?
    }

    private let state = Mutex(State())

    func close() {
        state.withLock { $0 = State(door: Promise(), arrived: Promise()) }
    }

    func open() {
        state.withLock { $0.door }?.settle(())
    }

    /// Waits until the gate is open.
    func pass() async {
        let (door, arrived) = state.withLock { ($0.door, $0.arrived) }
        arrived?.settle(())
        // The wait throws only when it is cancelled, and then the task continues at once.
        do { try await door?.value() } catch {}
    }

    /// Waits until a task has arrived at the closed gate.
    func waitForArrival() async throws {
        try await state.withLock { $0.arrived }?.value()
    }
}
