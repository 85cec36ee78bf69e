import Synchronization

/// Ends something once: when it is told to, or when nobody has it any more, since an answer that is never sent does not
/// run.
final class Lease: Sendable {
    private let isOver = Atomic(false)
    private let finish: @Sendable () -> Void

    init(_ finish: @escaping @Sendable () -> Void) {
        self.finish = finish
    }

    deinit { end() }

    func end() {
        if !isOver.exchange(true, ordering: .acquiringAndReleasing) { finish() }
    }
}
