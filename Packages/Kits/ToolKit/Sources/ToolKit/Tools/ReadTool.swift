import Capabilities
import FileKit

/// `fs.read`
struct ReadTool: FileTool {
    private static let usualLimit = 2000

    let seen: SeenFiles

    let name = "fs.read"
    let summary = """
        Reads a text file. Each line comes with its number and a tab before it. At most 2000 lines and 256 KiB are given \
        at a time; a note says how to go on. Long lines are cut. Of a binary file only its kind and size are told.
        """
    let properties: [Schema.Property] = [
        Schema.Property("path", "The file, relative to the working folder", .path(.read)),
        .optional("offset", "The number of the first line (default: 1)", .integer(1...Int(Int32.max))),
        .optional("limit", "How many lines to give (default: 2000)", .integer(1...100_000)),
    ]

    func run(_ input: ToolInput, in workspace: Workspace) async throws -> String {
        let path = try input.path
        let (first, limit) = (input.number("offset") ?? 1, input.number("limit") ?? Self.usualLimit)
        return try await workspace.work { cancellation in
            let file = try workspace.file(path)
            let status = try EntryStatus(of: file)
            let size = ByteCount(status.size)
            seen.note(path, status.stamp)
            var reader = try TextReader(file)
            if case .binary(let kind) = reader.format {
                return "[\(path.shown) is not text: \(kind), \(size.words); its content is not shown]"
            }
            var lines = NumberedLines(first: first, limit: limit)
            while let piece = try reader.next(), lines.add(piece) { try cancellation.check() }
            if !lines.isFull { lines.finish() }
            return try Self.answer(lines, reader.format, path)
        }
    }

    private static func answer(_ lines: NumberedLines, _ format: FileFormat, _ path: EntryPath) throws -> String {
        var notes: [String] = []
        if lines.count == 0 { notes.append("the file is empty") }
        if lines.count > 0, lines.shown == 0 {
            let last = lines.count == 1 ? "1 line" : "\(lines.count) lines"
            throw WorkspaceError(
                .input, "\(path.shown) has only \(last); use an offset from 1 to \(lines.count)")
        }
        if lines.isFull {
            let next = lines.count + 1
            notes.append("lines \(lines.first) to \(lines.count) are shown; go on with offset \(next)")
        }
        if let note = format.note { notes.append(note) }
        if lines.windowsEndings > 0 {
            let which = lines.windowsEndings == lines.shown ? "the lines end" : "\(lines.windowsEndings) lines end"
            notes.append("\(which) in CR LF, which is not shown")
        }
        if lines.repaired > 0 {
            notes.append("\(lines.repaired) lines contain invalid UTF-8; each invalid part is shown as \u{FFFD}")
        }
        return lines.text + notes.map { "[\($0)]" }.joined(separator: "\n")
    }
}
