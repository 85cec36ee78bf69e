import Synchronization

/// What the threads of a database have to tell, until the caller whose work made them is back: only its task knows who is
/// to be told.
final class Notices: Sendable {
    private let waiting = Mutex<[StorageNotice]>([])
    private let receive: @Sendable (StorageNotice) -> Void

    init(_ receive: @escaping @Sendable (StorageNotice) -> Void) {
        self.receive = receive
    }

    func add(_ notice: StorageNotice) {
        waiting.withLock { $0.append(notice) }
    }

    /// Tells what there is, in the task and on the thread of the caller.
    func tell() {
        let notices = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for notice in notices { receive(notice) }
    }
}
