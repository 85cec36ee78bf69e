import Synchronization

/// What work on a thread of its own looks at, to learn that nobody waits for it any more.
final class Cancellation: Sendable {
    private let isWanted = Atomic(false)

    func cancel() {
        isWanted.store(true, ordering: .relaxed)
    }

    func check() throws(CancellationError) {
        if isWanted.load(ordering: .relaxed) { throw CancellationError() }
    }
}
