import Capabilities
import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

/// A folder of a person in which commands are run, with a home and a neighbour beside it. It is not in `/tmp`, of which a
/// command has its own.
struct Place: Sendable {
    static let isThere = unsafe access("/usr/bin/bwrap", X_OK) == 0
    static let variables = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]

    let base: String
    var folder: String { "\(base)/work" }

    /// Who runs bubblewrap: who runs the tests, or an ordinary user where that is an administrator.
    enum User: CaseIterable, Sendable { case own, ordinary }

    /// An ordinary user needs name spaces of users, which not every machine gives them.
    static let users: [User] = {
        let probe =
            "setpriv --reuid 65534 --regid 65534 --clear-groups bwrap --unshare-user --ro-bind / / true 2>/dev/null"
        return unsafe geteuid() == 0 && system(probe) == 0 ? User.allCases : [.own]
    }()

    static func run(_ body: (Place) async throws -> Void) async throws {
        var template = Array("/var/tmp/sandboxkit-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        let place = Place(base: String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
        defer { unsafe system("chmod -R u+rwx '\(place.base)'; rm -rf '\(place.base)'") }
        #expect(unsafe chmod(place.base, 0o755) == 0)
        try Files.makeDirectories(place.folder, mode: 0o755)
        try Files.makeDirectories("\(place.base)/outside", mode: 0o777)
        try await body(place)
    }

    func write(_ path: String, _ text: String = "") throws {
        try Files.makeDirectories("\(folder)/\(path)".split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" })
        try Files.writeAtomically(Array(text.utf8), to: "\(folder)/\(path)")
    }

    func shell(_ script: String) async throws -> String {
        let command = Command(
            "sh", ["-c", "exec 2>&1; \(script)"], environment: CommandEnvironment(Self.variables),
            workingDirectory: folder)
        return try await Self.text(Launcher().run(command, timeout: .seconds(60)).output)
    }

    /// What `bash` prints in the sandbox, its errors too.
    func run(_ script: String, in sandbox: Sandbox = Sandbox(), as user: User = .own) async throws -> String {
        let launcher = Launcher()
        let sandboxed = try await prepare(["bash", "-c", "exec 2>&1; \(script)"], in: sandbox, launcher: launcher)
        var command = sandboxed.command
        if user == .ordinary {
            unsafe system("chown -R 65534:65534 '\(base)'")
            command.arguments =
                ["--reuid", "65534", "--regid", "65534", "--clear-groups", command.executable] + command.arguments
            command.executable = "setpriv"
        }
        let done = try await launcher.run(command, timeout: .seconds(60))
        if let failure = sandboxed.failure(done.status, errors: done.errors) { throw failure }
        return Self.text(done.output)
    }

    func prepare(
        _ words: [String], in sandbox: Sandbox = Sandbox(), launcher: Launcher = Launcher()
    ) async throws -> SandboxedCommand {
        let folder = try Folder(beneath: self.folder)
        return try await SandboxEngine(launcher: launcher, variables: Self.variables)
            .command(words, in: sandbox, around: folder, from: folder)
    }

    func names() throws -> [String] { try Files.list(folder).map(\.name).sorted() }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension Folder {
    convenience init(beneath path: String) throws {
        let opened = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(opened >= 0)
        self.init(FileDescriptor(owning: opened, path: path))
    }
}
