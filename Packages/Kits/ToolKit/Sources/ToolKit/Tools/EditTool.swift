import Capabilities

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
                .input, "\(edits.count) edits cannot be made at a time; give from 1 to \(Self.largestCount)")
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
