import FileKit
import Synchronization

/// One walk for several threads. Each idle thread takes a few files at a time, so that nothing waits in a queue and the
/// results keep the order of the walk.
final class SharedWalk: Sendable {
    struct Batch: Sendable {
        /// The index of the first file in the walk.
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
    /// After this many lines no more files are given out.
    private let limit: Int
    let start: WalkStart

    init(_ walk: TreeWalk, filter: PathPattern?, limit: Int) {
        start = walk.start
        state = Mutex(State(walk: walk))
        self.filter = filter
        self.limit = limit
    }

    /// The next files; nil if there are none or enough lines were found.
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

    /// Counts found lines.
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
