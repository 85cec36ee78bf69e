import Synchronization

/// Collects sentences for the client of a turn.
final class Notices: Sendable {
    private let said = Mutex([String]())

    var all: [String] { said.withLock { $0 } }

    @Sendable
    func add(_ text: String) { said.withLock { $0.append(text) } }
}
