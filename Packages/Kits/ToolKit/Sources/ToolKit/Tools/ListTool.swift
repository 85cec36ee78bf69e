import Capabilities
import FileKit

/// `ls`
struct ListTool: FileTool {
    private static let limit = 1000

    let name = "ls"
    let summary = """
        Lists a folder as a tree: size, time of the last change, name; folders end in a slash. At most 1000 entries are \
        given.
        """
    let properties: [Schema.Property] = [
        .path("The folder, relative to the working folder (default: the working folder itself)"),
        .optional("depth", "How many levels to list (default: 2)", .integer(1...64)),
        .hidden, .ignored,
    ]

    func run(_ input: ToolInput, in workspace: Workspace) async throws -> String {
        let path = try input.path
        let rules = WalkRules(
            hidden: input.flag("hidden"), ignored: input.flag("ignored"), depth: input.number("depth") ?? 2)
        return try await workspace.work { cancellation in
            let start = try WalkStart(path, in: workspace)
            var walk = try TreeWalk(start, rules, cancellation)
            var answer = Answer()
            var count = 0
            while let entry = try walk.next() {
                guard count < Self.limit, !answer.isFull else {
                    answer.note("there are more entries; list a subfolder, or use a smaller depth")
                    break
                }
                answer.add(Self.line(entry, start))
                count += 1
            }
            if count == 0 { answer.note("the folder is empty, or has only hidden or ignored entries") }
            answer.note(walk.problems.note)
            return answer.whole
        }
    }

    private static func line(_ entry: TreeEntry, _ start: WalkStart) -> String {
        let path = start.inside(entry.path)
        var name = EntryPath(bytes: Array(entry.path.bytes.dropFirst(entry.nameStart))).shown
        // An entry that was removed after it was listed is shown without size and time.
        let status = try? start.folder.status(path)
        var size = "-"
        switch entry.kind {
        case .directory: name += "/"
        case .regular: size = status.map { ByteCount($0.size).words } ?? "-"
        case .symbolicLink: name += " -> " + ((try? start.folder.target(path).shown) ?? "?")
        default: name += " (\(entry.kind.words))"
        }
        let time = status.map { Timestamp(microseconds: $0.modified.microseconds / 1_000_000 * 1_000_000).iso8601 }
        let indent = String(repeating: "  ", count: entry.depth - 1)
        return padded(size, 10) + "  " + (time ?? String(repeating: " ", count: 20)) + "  " + indent + name
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
