import Capabilities
import FileKit
import JSON

/// What is known of the command's own tools, which it names in its questions.
enum ClaudeTools {
    /// Those that reach neither files nor the network; each call of a sub-agent is asked about by itself.
    private static let harmless: Set<String> = [
        "TodoWrite", "ToolSearch", "ListAgents", "Task", "TaskStop", "EnterPlanMode", "ReportFindings",
    ]

    /// Those that read files, by the inputs that say where.
    private static let reading: [String: [String]] = [
        "Read": ["file_path"], "NotebookRead": ["notebook_path"], "LS": ["path"], "Grep": ["path"],
        "Glob": ["path", "pattern"],
    ]

    /// Whether a call only reads, and only in the folder of the turn: what it reads elsewhere, or fetches, somebody has to
    /// agree to. A tool that we do not know may do anything.
    static func effect(of call: ToolCall, in folder: String) -> Effect {
        if harmless.contains(call.name) { return .reads }
        guard let places = reading[call.name] else { return .writes }
        for place in places {
            switch call.input[place] {
            case nil, .null?: continue
            case .string(let path)? where isInside(path, folder): continue
            default: return .writes
            }
        }
        return .reads
    }

    /// Those that open one file, which they name.
    private static let single: [String: String] = [
        "Read": "file_path", "NotebookRead": "notebook_path", "Edit": "file_path", "MultiEdit": "file_path",
        "Write": "file_path", "NotebookEdit": "notebook_path",
    ]

    static func opensOneFile(_ tool: String) -> Bool { single[tool] != nil || harmless.contains(tool) }

    /// What a call names, with links followed where they can be.
    static func paths(of call: ToolCall, in folder: String, _ places: PathGlob.Places) -> [AbsolutePath] {
        (reading[call.name] ?? single[call.name].map { [$0] } ?? []).compactMap { call.input[$0]?.string }.flatMap {
            path in
            let asked = AbsolutePath.joined(path, in: folder)
            var found = [AbsolutePath(asked), places.path(path)]
            // What cannot be looked at is known by its name alone.
            do throws(FileError) { found.append(AbsolutePath(try Files.place(asked))) } catch {}
            return found
        }
    }

    private static func isInside(_ path: String, _ folder: String) -> Bool {
        // The command reads `~` as the person's home, and braces and brackets as other paths than they look like.
        if path.hasPrefix("~") || path.utf8.contains(where: { "{[\0".utf8.contains($0) }) { return false }
        if path.utf8.split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual("..".utf8) }) {
            return false
        }
        do throws(FileError) {
            let root = try Files.canonical(folder)
            // What is not there yet, or is a pattern, is where the nearest folder above it is.
            let place = try Files.place(AbsolutePath.joined(path, in: root))
            return AbsolutePath(place).lies(beneath: AbsolutePath(root))
        } catch {
            return false
        }
    }
}
