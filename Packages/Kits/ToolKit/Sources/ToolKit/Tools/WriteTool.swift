import Capabilities

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
                .input, "\(files.count) files cannot be written at a time; give from 1 to \(Self.largestCount)")
        }
        var paths: Set<[ArraySlice<UInt8>]> = []
        for (_, path) in files where !paths.insert(path.parts).inserted {
            throw WorkspaceError(.input, "\(path.shown) is named twice; write each file once")
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
