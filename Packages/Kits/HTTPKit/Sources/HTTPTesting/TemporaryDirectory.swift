import FileKit
import Glibc
import ProcessKit

/// A temporary directory of a test, deleted with its contents when the body ends.
public enum TemporaryDirectory {
    /// Lends the path of a fresh directory.
    public static func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Result
    ) async throws -> Result {
        var template = Array("/tmp/httpkit-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw Sockets.failure("make a temporary directory") }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(path)) } catch { result = .failure(error) }
        try removeTree(path)
        return try result.get()
    }

    private static func removeTree(_ path: String) throws {
        for entry in try Files.list(path) {
            let child = "\(path)/\(entry.name)"
            if entry.kind == .directory { try removeTree(child) } else { try Files.remove(child) }
        }
        try Files.remove(path)
    }

    /// Makes a file of that size that takes no space on the disk: its bytes are zeros.
    public static func makeSparseFile(_ path: String, size: Int) throws {
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
