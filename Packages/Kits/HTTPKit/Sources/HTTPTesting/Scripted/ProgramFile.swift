import ProcessKit

/// A script that a test writes and then runs.
public enum ProgramFile {
    /// Has another process write it. What this one starts at the same moment for another test would hold the file open for
    /// writing until it runs its own program, and a file that is open for writing cannot be run.
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
