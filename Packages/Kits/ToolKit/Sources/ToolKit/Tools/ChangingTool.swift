import Capabilities
import FileKit

/// A tool that writes files. Its changes are planned first, shown for approval, and written only if the plan is still
/// the same.
protocol ChangingTool: WorkspaceTool {
    var seen: SeenFiles { get }

    /// The planned changes, checked but not written.
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
            // From here on the files are open. Changing one now prevents the write.
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
            // A longer diff would not be read.
            if diffs.utf8.count < longestDiff { diffs += change.diff.text } else { leftOut.append(change) }
        }
        leftOut.removeAll(where: \.isNothing)
        if !leftOut.isEmpty {
            // At the beginning, because the end of a long text is not shown.
            let lines = leftOut.reduce(0) { $0 + $1.diff.added + $1.diff.removed }
            diffs = "[not shown here: the changes of \(leftOut.count) more files, with \(lines) lines]\n\(diffs)"
        }
        reach.diff = diffs.isEmpty ? nil : diffs
        reach.state = hasher.finalize()
        return reach
    }
}

/// The size of diffs after which no further one is added.
private let longestDiff = 1 << 20

/// The report for a model about written files: the actual changes in each, and notes.
struct ChangeReport {
    private var answer = Answer()

    init(_ changes: [FileChange], isDryRun: Bool = false) {
        for change in changes {
            // The model has just sent the whole content of a new file.
            if change.former != nil {
                for line in change.diff.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                    answer.add(String(line))
                }
            }
        }
        for change in changes {
            answer.note(([Self.summary(change)] + change.notes).joined(separator: "; "))
        }
        if answer.isFull { answer.note("the diff was too long and is cut here") }
        if isDryRun { answer.note("dry run: nothing was written") }
    }

    var text: String { answer.whole }

    private static func summary(_ change: FileChange) -> String {
        let path = change.path.shown
        if change.isNothing { return "\(path) already has this content" }
        guard change.former != nil else { return "\(path) is new, with \(lines(change.diff.added))" }
        return "\(path): \(lines(change.diff.added)) added, \(change.diff.removed) removed"
    }

    private static func lines(_ count: Int) -> String { count == 1 ? "1 line" : "\(count) lines" }
}

/// `fs.write`
struct WriteTool: ChangingTool {
    let seen: SeenFiles

    let name = "fs.write"
    let summary = """
        Writes a whole text file: a new one, or in place of one that is there, whose encoding, line ends and mode are \
        kept. Use edit.file or multi.edit to change a part. Gives a diff of what was replaced.
        """
    let properties: [Schema.Property] = [
        Schema.Property("path", "The file, relative to the working folder", .path(.write)),
        Schema.Property("content", "All of its text", .string),
        .createFolders,
    ]

    func changes(_ input: ToolInput, in workspace: Workspace, _ cancellation: Cancellation) throws -> [FileChange] {
        let makesFolders = input.flag("create_folders")
        return [
            try FileChange(
                try input.path, content: input.text("content"), makingFolders: makesFolders, seen, in: workspace)
        ]
    }
}

/// `multi.write`
struct MultiWriteTool: ChangingTool {
    private static let largestCount = 200

    let seen: SeenFiles

    let name = "multi.write"
    let summary = """
        Writes several whole text files as fs.write does, all or none of them: each is checked before the first is \
        written. At most 200 at a time.
        """
    let properties: [Schema.Property] = [
        Schema.Property(
            "files", "The files",
            .array(
                .record([
                    Schema.Property("path", "The file, relative to the working folder", .path(.write)),
                    Schema.Property("content", "All of its text", .string),
                ]))),
        .createFolders,
    ]

    func changes(_ input: ToolInput, in workspace: Workspace, _ cancellation: Cancellation) throws -> [FileChange] {
        let files = try input.records("files").map { ($0.text("content"), try $0.path) }
        let makesFolders = input.flag("create_folders")
        guard (1...Self.largestCount).contains(files.count) else {
            throw WorkspaceError(
                .input, "\(files.count) files cannot be written at once; give from 1 to \(Self.largestCount)")
        }
        var paths: Set<[ArraySlice<UInt8>]> = []
        for (_, path) in files where !paths.insert(path.parts).inserted {
            throw WorkspaceError(.input, "\(path.shown) is given twice; write each file once")
        }
        return try files.map { content, path in
            try cancellation.check()
            return try FileChange(path, content: content, makingFolders: makesFolders, seen, in: workspace)
        }
    }
}

extension Schema.Property {
    fileprivate static var createFolders: Schema.Property {
        optional("create_folders", "Make the folders above a file that are missing (default: false)", .boolean)
    }

    static var dryRun: Schema.Property {
        optional("dry_run", "Only show what would be changed (default: false)", .boolean)
    }
}

/// `multi.edit`
struct EditTool: ChangingTool {
    private static let largestCount = 200

    let seen: SeenFiles

    let name = "multi.edit"
    let summary = """
        Replaces texts in a text file, one after the other: each old_text has to stand there exactly once, without the line \
        numbers of fs.read, unless replace_all is set. All edits are made, or none. Gives a diff of what was done.
        """
    let properties: [Schema.Property] = [
        Schema.Property("path", "The file, relative to the working folder", .path(.write)),
        Schema.Property(
            "edits", "What to replace, in this order",
            .array(
                .record([
                    Schema.Property(
                        "old_text", "The text as it is, with enough around it to stand there once", .string),
                    Schema.Property("new_text", "The text in its place", .string),
                    .optional("replace_all", "Replace it wherever it stands (default: false)", .boolean),
                ]))),
        .dryRun,
    ]

    func changes(_ input: ToolInput, in workspace: Workspace, _ cancellation: Cancellation) throws -> [FileChange] {
        let edits = input.records("edits").map(TextEdit.init)
        guard (1...Self.largestCount).contains(edits.count) else {
            throw WorkspaceError(
                .input, "\(edits.count) edits cannot be made at once; give from 1 to \(Self.largestCount)")
        }
        let change = try FileChange(editing: try input.path, seen, in: workspace) { text in
            var text = text
            for (index, edit) in edits.enumerated() {
                try cancellation.check()
                text = try edit.applied(to: text, number: index + 1)
            }
            return (text, [])
        }
        return [change]
    }
}

/// `edit.file`
struct PatchTool: ChangingTool {
    let seen: SeenFiles

    let name = "edit.file"
    let summary = """
        Changes a text file by a unified diff: hunks that begin with @@ -1,3 +1,4 @@ and whose lines begin with a space, - \
        or +. Line numbers may be wrong, if the lines around stand at one place only. All hunks are applied, or none. Gives \
        a diff of what was really done.
        """
    let properties: [Schema.Property] = [
        Schema.Property("path", "The file, relative to the working folder", .path(.write)),
        Schema.Property("patch", "The unified diff, for this file alone", .string),
        .dryRun,
    ]

    func changes(_ input: ToolInput, in workspace: Workspace, _ cancellation: Cancellation) throws -> [FileChange] {
        let path = try input.path
        let patch = TextDocument.unified(Array(input.text("patch").utf8)).text
        let diffs = try UnifiedDiff.parse(patch)
        guard let diff = diffs.first, diffs.count == 1 else {
            let names = diffs.map { PlainText.escape($0.newName ?? $0.oldName ?? "?") }.joined(separator: ", ")
            throw WorkspaceError(
                .patch,
                "the patch is for \(diffs.count) files (\(names.prefix(200))); give one for \(path.shown) only")
        }
        let change = try FileChange(editing: path, seen, in: workspace) { text in
            let applied = try diff.application(to: text)
            return (applied.content, applied.notes)
        }
        return [change]
    }
}
