extension Workspace {
    /// A line that fits a pattern.
    public struct Hit: Sendable, Hashable {
        /// From the workspace on.
        public let path: String
        /// From 1.
        public let line: Int
        /// The line, cut where it is very long.
        public let text: String
    }

    /// The lines of text files that fit a regular expression, in the order of the walk, as `grep.search` finds them.
    public func search(
        _ pattern: String, glob: String? = nil, isLiteral: Bool = false, ignoresCase: Bool = false, _ look: Look
    ) async throws -> (hits: [Hit], isCut: Bool) {
        let search = TreeSearch(
            pattern: try LinePattern(pattern, isLiteral: isLiteral, ignoresCase: ignoresCase),
            filter: try glob.map { glob throws(WorkspaceError) in try PathPattern(glob) }, context: 0,
            limit: look.limit)
        let rules = WalkRules(hidden: look.hidden || search.filter?.namesHidden == true, ignored: look.ignored)
        let found = try await search.run(try look.entryPath(), rules, in: self)
        var hits: [Hit] = []
        for file in found.files {
            let path = String(decoding: file.path.bytes, as: UTF8.self)
            for line in file.lines where line.isMatch {
                guard hits.count < look.limit else { return (hits, true) }
                hits.append(Hit(path: path, line: line.number, text: line.text))
            }
            if file.matches > look.limit { return (hits, true) }
        }
        return (hits, false)
    }
}
