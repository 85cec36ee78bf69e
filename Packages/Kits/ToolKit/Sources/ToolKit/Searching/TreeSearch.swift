import FileKit
import Glibc

/// Searches a file, or all files of a tree, on as many threads as there are processors.
struct TreeSearch: Sendable {
    let pattern: LinePattern
    let filter: PathPattern?
    let context: Int
    let limit: Int

    /// The combined result of all threads.
    struct Found: Sendable {
        /// In the order of the walk.
        var files: [FileHits] = []
        var searched = 0
        fileprivate(set) var binaries = 0
        fileprivate var problems = WalkProblems()

        var notes: [String] {
            var notes: [String] = []
            if binaries > 0 { notes.append("\(binaries) binary files were not searched") }
            if let note = problems.note { notes.append(note) }
            return notes
        }
    }

    func run(_ path: EntryPath, _ rules: WalkRules, in workspace: Workspace) async throws -> Found {
        // One for all threads, because their shared walk checks it too.
        let cancellation = Cancellation()
        let walk = try await workspace.work(cancellation) { cancellation -> SharedWalk? in
            guard try workspace.kind(path) == .directory else { return nil }
            let walk = try TreeWalk(WalkStart(path, in: workspace), rules, cancellation)
            return SharedWalk(walk, filter: filter, limit: limit)
        }
        guard let walk else {
            return try await workspace.work(cancellation) { try searchOne(path, in: workspace, $0) }
        }
        var found = try await withThrowingTaskGroup(of: Found.self) { group in
            for _ in 0..<Self.threadCount {
                group.addTask { try await workspace.work(cancellation) { try searchMany(walk, $0) } }
            }
            return try await group.reduce(into: Found()) { $0.add($1) }
        }
        found.files.sort { $0.place < $1.place }
        found.searched = walk.fileCount
        found.problems.add(walk.problems)
        return found
    }

    private static var threadCount: Int { min(8, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    private func searchOne(_ path: EntryPath, in workspace: Workspace, _ cancellation: Cancellation) throws -> Found {
        var search = try FileSearch(pattern, context: context, limit: limit, cancellation)
        var hits = FileHits(path: path, place: 0)
        try search.search(workspace.file(path), into: &hits)
        var found = Found(searched: 1)
        found.add(hits)
        return found
    }

    private func searchMany(_ walk: SharedWalk, _ cancellation: Cancellation) throws -> Found {
        var search = try FileSearch(pattern, context: context, limit: limit, cancellation)
        var found = Found()
        while let batch = try walk.next() {
            for (index, path) in batch.files.enumerated() {
                try cancellation.check()
                var hits = FileHits(path: path, place: batch.first + index)
                do {
                    try search.search(walk.start.folder.file(walk.start.inside(path)), into: &hits)
                } catch let error as WorkspaceError {
                    found.problems.add(error)
                }
                if hits.matches > 0 { walk.found(hits.matches) }
                found.add(hits)
            }
        }
        return found
    }
}

extension TreeSearch.Found {
    fileprivate mutating func add(_ hits: FileHits) {
        if !hits.lines.isEmpty { files.append(hits) }
        switch hits.gap {
        case .binary: binaries += 1
        case .longLine:
            problems.add(
                WorkspaceError(.system, "\(hits.path.shown) has a line longer than \(FileSearch.longestLine) bytes"))
        case .effort:
            problems.add(
                WorkspaceError(.pattern, "the pattern takes too many steps in \(hits.path.shown); use a simpler one"))
        case nil: break
        }
    }

    fileprivate mutating func add(_ other: TreeSearch.Found) {
        files += other.files
        binaries += other.binaries
        problems.add(other.problems)
    }
}
