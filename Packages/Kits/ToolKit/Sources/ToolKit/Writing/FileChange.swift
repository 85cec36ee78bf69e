/// A file that is going to be written, checked and not yet touched.
struct FileChange: Sendable {
    let path: EntryPath
    /// Nil where folders have to be made first.
    let place: WritePlace?
    let former: ExistingFile?
    let content: [UInt8]
    /// What is changed, as a model sees the text: without byte order marks, and with line breaks of one kind.
    let diff: UnifiedDiff
    var notes: [String] = []

    /// Whether it is as it should be already.
    var isNothing: Bool { former?.content == content }
}

extension FileChange {
    /// Writes all of them or none, and tells how those that were written are then.
    static func write(
        _ changes: [FileChange], in workspace: Workspace, _ cancellation: Cancellation
    ) throws -> [(path: EntryPath, stamp: FileStamp)] {
        let folders = NewFolders()
        var done: [FileReplacement] = []
        do {
            var replacements: [(path: EntryPath, replacement: FileReplacement)] = []
            for change in changes where !change.isNothing {
                try cancellation.check()
                if change.place == nil { try folders.make(for: change.path, in: workspace) }
                let place = try change.place ?? WritePlace(change.path, in: workspace)
                let replacement = try FileReplacement(change.content, at: place, replacing: change.former?.status)
                replacements.append((change.path, replacement))
            }
            // From here on nothing needs space on the disk, and a stop comes too late.
            for (_, replacement) in replacements {
                try replacement.commit()
                done.append(replacement)
            }
            return replacements.map { ($0.path, $0.replacement.stamp) }
        } catch {
            for replacement in done.reversed() { try replacement.undo() }
            folders.removeEmpty()
            throw error
        }
    }
}
