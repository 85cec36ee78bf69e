import Synchronization

/// Tells work on a separate thread that its result is no longer needed.
final class Cancellation: Sendable {
    private let isWanted = Atomic(false)

    func cancel() {
        isWanted.store(true, ordering: .relaxed)
    }

    func check() throws(CancellationError) {
        if isWanted.load(ordering: .relaxed) { throw CancellationError() }
    }
}
