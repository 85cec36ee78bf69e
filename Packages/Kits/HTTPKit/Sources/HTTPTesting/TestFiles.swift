import FileKit
import Glibc
import ProcessKit

/// A file of that size that takes no space on the disk: its bytes are zeros.
public enum SparseFile {
    /// Creates the file. A file of that name is replaced.
    public static func make(_ path: String, size: Int) throws {
        try Files.writeAtomically([], to: path)
        guard unsafe truncate(path, size) == 0 else { throw Sockets.failure("enlarge \(path)") }
    }
}

/// A script that a test writes and then runs.
public enum ProgramFile {
    /// Another process writes the file. A process that this one starts at the same moment for another test would
    /// inherit the open file until its own exec, and a file that is open for writing cannot be run.
    public static func write(_ text: String, to path: String) async throws {
        var command = Command(
            "sh", ["-c", "cat >\"$0\" && chmod 755 \"$0\"", path], environment: ["PATH": "/usr/bin:/bin"])
        command.input = .bytes(Array(text.utf8))
        let done = try await Launcher.standalone.run(command, timeout: .seconds(300))
        guard done.status.isSuccess else {
            throw ScriptError.failed(String(decoding: done.errors, as: UTF8.self))
        }
    }
}
