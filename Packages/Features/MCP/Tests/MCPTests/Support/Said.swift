import Synchronization

/// Keeps sentences that were told.
final class Said: Sendable {
    private let said = Mutex([String]())

    var all: [String] { said.withLock { $0 } }

    @Sendable
    func add(_ text: String) { said.withLock { $0.append(text) } }
}
