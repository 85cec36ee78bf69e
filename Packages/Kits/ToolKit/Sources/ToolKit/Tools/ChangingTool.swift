import Capabilities
import FileKit

/// One that writes files: what it would change is worked out first, shown to whoever is asked, and written only while
/// that is still what it would change.
protocol ChangingTool: WorkspaceTool {
    var seen: SeenFiles { get }

    /// What would be written, all checked and nothing touched.
    func changes(_ input: ToolInput, in workspace: Workspace, _ cancellation: Cancellation) throws -> [FileChange]
}

extension ChangingTool {
    var effect: Effect { .writes }

    func reach(_ input: ToolInput, in workspace: Workspace) async throws -> ToolReach {
        try await workspace.work { cancellation in
            Self.reach(of: try changes(input, in: workspace, cancellation), in: workspace)
        }
    }

    func outcome(
        _ input: ToolInput, in workspace: Workspace, reaching agreed: ToolReach?,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolOutcome {
        let isDryRun = input.flag("dry_run")
        return try await workspace.work { cancellation in
            let changes = try changes(input, in: workspace, cancellation)
            // From here on the files are open: whoever changes one now keeps it from being written.
            if let agreed, Self.reach(of: changes, in: workspace) != agreed { throw ToolReachChanged() }
            if !isDryRun {
                for (path, stamp) in try FileChange.write(changes, in: workspace, cancellation) {
                    seen.note(path, stamp)
                }
            }
            return ToolOutcome(text: ChangeReport(changes, isDryRun: isDryRun).text)
        }
    }

    private static func reach(of changes: [FileChange], in workspace: Workspace) -> ToolReach {
        var hasher = Hasher()
        var reach = ToolReach()
        reach.onlyWritesPaths = true
        var diffs = ""
        var leftOut: [FileChange] = []
        for change in changes {
            let place = change.location(in: workspace)
            reach.paths.append(place)
            hasher.combine(place)
            hasher.combine(change.former?.status.stamp)
            hasher.combine(change.content)
            // Nobody reads a longer diff.
            if diffs.utf8.count < longestDiff { diffs += change.diff.text } else { leftOut.append(change) }
        }
        leftOut.removeAll(where: \.isNothing)
        if !leftOut.isEmpty {
            // Before all else, since of what is long the end is not shown.
            let lines = leftOut.reduce(0) { $0 + $1.diff.added + $1.diff.removed }
            diffs = "[not shown here: the changes of \(leftOut.count) more files, with \(lines) lines]\n\(diffs)"
        }
        reach.diff = diffs.isEmpty ? nil : diffs
        reach.state = hasher.finalize()
        return reach
    }
}

/// How many bytes of diffs there are before no further one is added.
private let longestDiff = 1 << 20

extension FileChange {
    /// Where it would be written, with all links followed.
    fileprivate func location(in workspace: Workspace) -> AbsolutePath {
        guard let place else { return AbsolutePath(bytes: workspace.root.location + [Byte.slash] + path.bytes) }
        return AbsolutePath(bytes: place.folder.location + [Byte.slash] + place.name)
    }
}
