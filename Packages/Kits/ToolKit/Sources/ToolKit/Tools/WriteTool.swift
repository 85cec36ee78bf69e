import Capabilities

/// `fs.write`
struct WriteTool: FileTool {
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
    let effect = Effect.writes

    func run(_ input: ToolInput, in workspace: Workspace) async throws -> String {
        let (path, content, makesFolders) = (try input.path, input.text("content"), input.flag("create_folders"))
        return try await workspace.work { cancellation in
            let change = try FileChange(path, content: content, makingFolders: makesFolders, seen, in: workspace)
            return try write([change], seen, in: workspace, cancellation)
        }
    }
}

/// `multi.write`
struct MultiWriteTool: FileTool {
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
    let effect = Effect.writes

    func run(_ input: ToolInput, in workspace: Workspace) async throws -> String {
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
        return try await workspace.work { cancellation in
            let changes = try files.map { content, path in
                try cancellation.check()
                return try FileChange(path, content: content, makingFolders: makesFolders, seen, in: workspace)
            }
            return try write(changes, seen, in: workspace, cancellation)
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

extension FileTool {
    /// Writes the changes, remembers how the files are now, and tells what was done.
    func write(
        _ changes: [FileChange], _ seen: SeenFiles, in workspace: Workspace, _ cancellation: Cancellation,
        isDryRun: Bool = false
    ) throws -> String {
        if !isDryRun {
            for (path, stamp) in try FileChange.write(changes, in: workspace, cancellation) { seen.note(path, stamp) }
        }
        return ChangeReport(changes, isDryRun: isDryRun).text
    }
}
