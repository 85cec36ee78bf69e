import Capabilities
import CoreTesting
import FileKit
import Glibc
import JSON
import ProcessKit
import Testing

@testable import ToolKit

/// A folder for tools, and a folder next to it that they must never show.
struct Playground: Sendable {
    static let secret = "the-secret-of-the-house"
    let base: String
    let tools: WorkspaceTools
    let workspace: Workspace

    var folder: String { "\(base)/work" }

    fileprivate init(_ base: String, _ resolver: Folder.Resolver?) throws {
        self.base = base
        try Files.makeDirectories("\(base)/work")
        try Files.makeDirectories("\(base)/outside/folder")
        try Files.writeAtomically(Array(Self.secret.utf8), to: "\(base)/outside/secret.txt")
        try Files.writeAtomically(Array(Self.secret.utf8), to: "\(base)/outside/folder/secret.txt")
        workspace = try Workspace("\(base)/work", resolver: resolver)
        tools = WorkspaceTools(
            workspace, offering: .all, shell: ShellOptions(environment: ["PATH": "/usr/bin:/bin"], sandbox: nil))
    }

    func write(_ path: String, _ text: String) throws {
        try write(path, Array(text.utf8))
    }

    func write(_ path: String, _ bytes: [UInt8]) throws {
        if let slash = path.lastIndex(of: "/") { try Files.makeDirectories("\(folder)/\(path[..<slash])") }
        // Not atomically: syncing thousands of test files would take too long.
        let opened = unsafe creat("\(folder)/\(path)", 0o600)
        try #require(opened >= 0)
        defer { close(opened) }
        try #require(unsafe Glibc.write(opened, bytes, bytes.count) == bytes.count)
    }

    func bytes(_ path: String) throws -> [UInt8] {
        try Files.read("\(folder)/\(path)", limit: 1 << 26)
    }

    func content(_ path: String) throws -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    /// The names in a folder, including those that begin with a dot.
    func names(_ path: String = ".") throws -> [String] {
        try Files.list("\(folder)/\(path)").map(\.name)
    }

    func link(_ path: String, to target: String) throws {
        try #require(unsafe symlink(target, "\(folder)/\(path)") == 0)
    }

    /// Sets the modification time of a file.
    func touch(_ path: String, seconds: Int) throws {
        let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
        try #require(unsafe utimensat(AT_FDCWD, "\(folder)/\(path)", times, 0) == 0)
    }

    func run(_ name: String, _ input: JSONObject) async throws -> ToolResult {
        try await tools.run(ToolCall(id: "1", name: name, input: .object(input)))
    }

    /// The text of a call that must succeed.
    func text(_ name: String, _ input: JSONObject) async throws -> String {
        let result = try await run(name, input)
        #expect(!result.isError, "\(result.content)")
        return result.content
    }

    /// The message of a call that must fail.
    func failure(_ name: String, _ input: JSONObject) async throws -> String {
        let result = try await run(name, input)
        #expect(result.isError, "\(result.content)")
        return result.content
    }

    func lines(_ name: String, _ input: JSONObject) async throws -> [String] {
        try await text(name, input).split(separator: "\n").map(String.init)
    }
}

extension WorkspaceTools {
    /// Runs a call as a turn does: it first asks for the reach and then runs with it.
    func run(
        _ call: ToolCall, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        try await run(call, reaching: try await reach(of: call), telling: tell)
    }
}

/// Provides a playground and removes it afterwards.
func withPlayground<T>(
    resolver: Folder.Resolver? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: (Playground) async throws -> T
) async throws -> T {
    try await TemporaryDirectory.run { folder in
        let path = "\(folder)/playground"
        try Files.makeDirectories(path)
        let result: Result<T, any Error>
        do {
            let playground = try Playground(path, resolver)
            // Tools need a caller; without one nothing is started.
            let value = try await Caller.$current.withValue(
                .person(HeadlessInteraction()), operation: { try await body(playground) }, isolation: isolation)
            result = .success(value)
        } catch {
            result = .failure(error)
        }
        try await removeTree(path)
        return try result.get()
    }
}

/// Uses a program that handles any bytes in names and any depth.
func removeTree(_ path: String) async throws {
    _ = try await output("rm", ["-rf", path], in: "/")
}

/// The output of a program, whatever its exit code.
func output(_ program: String, _ arguments: [String], in folder: String, input: [UInt8] = []) async throws -> [UInt8] {
    var command = Command(
        program, arguments,
        environment: [
            "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
        ], workingDirectory: folder)
    command.input = .bytes(input)
    let done = try await Launcher.standalone.run(command, outputLimit: 1 << 26, timeout: .seconds(240))
    #expect(done.errors.isEmpty, "\(String(decoding: done.errors, as: UTF8.self))")
    return done.output
}
