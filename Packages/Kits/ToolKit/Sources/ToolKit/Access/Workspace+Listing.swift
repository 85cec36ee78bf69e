import FileKit

extension Workspace {
    /// What is in a folder and those below it, a folder before what is in it. Links are shown and not followed.
    public func entries(_ look: Look, depth: Int = 1) async throws -> (entries: [Entry], isCut: Bool) {
        let path = try look.entryPath()
        return try await work { cancellation in
            let rules = WalkRules(hidden: look.hidden, ignored: look.ignored, depth: depth)
            return try self.collect(path, rules, look.limit, cancellation) { _, _ in true }
        }
    }

    /// The files whose path from there on fits a pattern such as `**/*.swift`, in the order of the walk.
    public func find(_ pattern: String, _ look: Look) async throws -> (entries: [Entry], isCut: Bool) {
        let path = try look.entryPath()
        let pattern = try PathPattern(pattern)
        return try await work { cancellation in
            let rules = WalkRules(hidden: look.hidden || pattern.namesHidden, ignored: look.ignored)
            return try self.collect(path, rules, look.limit, cancellation) { entry, start in
                entry.kind != .directory && pattern.matches(entry.path.bytes, from: start.prefix.lengthWithSlash)
            }
        }
    }

    private func collect(
        _ path: EntryPath, _ rules: WalkRules, _ limit: Int, _ cancellation: Cancellation,
        where isWanted: (TreeEntry, WalkStart) -> Bool
    ) throws -> (entries: [Entry], isCut: Bool) {
        let start = try WalkStart(path, in: self)
        var walk = try TreeWalk(start, rules, cancellation)
        var entries: [Entry] = []
        while let found = try walk.next() {
            guard isWanted(found, start) else { continue }
            guard entries.count < limit else { return (entries, true) }
            do throws(WorkspaceError) {
                let place = try start.folder.open(start.inside(found.path), to: .look, followingLinks: false)
                entries.append(try Entry(found.path, place))
            } catch {
                // What has gone since it was listed is not there to be shown.
                guard error.kind == .notFound else { throw error }
            }
        }
        return (entries, false)
    }
}
