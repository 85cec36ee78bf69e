import Synchronization

/// A wish to stop one piece of work, which the thread that does the work looks at.
final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isWanted: Bool { flag.load(ordering: .relaxed) }

    func want() {
        flag.store(true, ordering: .relaxed)
    }
}
