import HTTPTesting
import Synchronization

/// Holds a server back until the test lets it go on.
final class Gate: Sendable {
    private let state = Mutex(false)

    var isOpen: Bool { state.withLock { $0 } }

    func open() {
        state.withLock { $0 = true }
    }

    /// Looks again from time to time, and throws when the client leaves.
    func hold(_ connection: ScriptedConnection) throws {
        while !isOpen { try connection.pause(.milliseconds(2)) }
    }
}
