import Capabilities

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
                "the patch is for \(diffs.count) files (\(names.prefix(200))); give one for \(path.shown) alone")
        }
        let change = try FileChange(editing: path, seen, in: workspace) { text in
            let applied = try diff.application(to: text)
            return (applied.content, applied.notes)
        }
        return [change]
    }
}
