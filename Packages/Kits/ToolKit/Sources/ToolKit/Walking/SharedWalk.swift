import FileKit
import Synchronization

/// One walk for several threads: each takes a few files at a time when it has nothing left to do, so that nothing waits
/// in a queue and what is found keeps the order of the walk.
final class SharedWalk: Sendable {
    struct Batch: Sendable {
        /// Counts the files of the walk.
        let first: Int
        let files: [EntryPath]
    }

    private struct State: Sendable {
        var walk: TreeWalk
        var count = 0
        var hits = 0
    }

    private let state: Mutex<State>
    private let filter: PathPattern?
    /// Enough lines; no more files are given out then.
    private let limit: Int
    let start: WalkStart

    init(_ walk: TreeWalk, filter: PathPattern?, limit: Int) {
        start = walk.start
        state = Mutex(State(walk: walk))
        self.filter = filter
        self.limit = limit
    }

    /// The next files, or nil when there are none or enough was found in those before.
    func next() throws -> Batch? {
        try state.withLock { state in
            guard state.hits <= limit else { return nil }
            var files: [EntryPath] = []
            while files.count < 16, let entry = try state.walk.next() {
                if entry.kind == .regular, accepts(entry) { files.append(entry.path) }
            }
            guard !files.isEmpty else { return nil }
            defer { state.count += files.count }
            return Batch(first: state.count, files: files)
        }
    }

    /// Counts lines that were found.
    func found(_ count: Int) {
        state.withLock { $0.hits += count }
    }

    var problems: WalkProblems { state.withLock(\.walk.problems) }
    var fileCount: Int { state.withLock(\.count) }

    private func accepts(_ entry: TreeEntry) -> Bool {
        guard let filter else { return true }
        return filter.matches(entry.path.bytes, from: filter.isName ? entry.nameStart : start.prefix.lengthWithSlash)
    }
}
