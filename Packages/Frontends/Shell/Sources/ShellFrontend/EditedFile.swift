import Capabilities
import FileKit
import Glibc
import TerminalKit

/// A text in a file that an editor changes.
enum EditedFile {
    /// Lets the person write in an editor, and returns the text that it left.
    ///
    /// - Parameters:
    ///   - editor: the program and its arguments, as `EDITOR` has them.
    ///   - folder: where the file is while the editor runs. Nobody else reads it.
    static func edit(
        _ text: String, with editor: String, in folder: String, on terminal: FullScreenTerminal
    ) async throws -> String {
        try Files.makeDirectories(folder)
        let path = "\(folder)/draft-\(getpid()).md"
        try Files.writeAtomically(Array(text.utf8), to: path)
        defer { unsafe _ = unlink(path) }
        let status = try await terminal.lend(to: editor.split(separator: " ").map(String.init) + [path])
        guard status == 0 else { throw EditorFailure(status: status) }
        let edited = String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self)
        // Most editors end the last line.
        return edited.hasSuffix("\n") ? String(edited.dropLast()) : edited
    }
}

/// The editor did not end well.
struct EditorFailure: Failure {
    let status: Int32
    var code: String { "shell.editor" }
    var message: String { "the editor ended with \(status); the text is as it was before" }
}
