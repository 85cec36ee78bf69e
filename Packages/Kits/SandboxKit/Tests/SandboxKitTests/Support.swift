import Capabilities
import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

/// A folder of a person in which commands are run, with a home and a neighbour beside it. It is not in `/tmp`, of which a
/// command has its own.
struct Place: Sendable {
    static let variables = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]

    let base: String
    var folder: String { "\(base)/work" }

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
        return try await Self.text(Launcher.standalone.run(command, timeout: .seconds(60)).output)
    }

    /// What `bash` prints in the sandbox, its errors too.
    func run(_ script: String, in sandbox: Sandbox = Sandbox(), by way: Way = .bubblewrap) async throws -> String {
        if way.isOrdinary, case .landlock(let version) = way.engine {
            return try await runAsOrdinary(script, hasNetwork: sandbox.hasNetwork, version.number)
        }
        let launcher = Launcher.standalone
        let sandboxed = try await prepare(
            ["bash", "-c", "exec 2>&1; \(script)"], in: sandbox, by: way.engine, launcher: launcher)
        var command = sandboxed.command
        if way.isOrdinary {
            unsafe system("chown -R 65534:65534 '\(base)'")
            command.arguments =
                ["--reuid", "65534", "--regid", "65534", "--clear-groups", command.executable] + command.arguments
            command.executable = "setpriv"
        }
        let done = try await launcher.run(command, timeout: .seconds(60))
        if let failure = sandboxed.failure(done.status, errors: done.errors) { throw failure }
        return Self.text(done.output)
    }

    /// The rules are applied to the program itself, so that it is another process that is somebody else.
    private func runAsOrdinary(_ script: String, hasNetwork: Bool, _ version: Int32) async throws -> String {
        try #require(unsafe system("chown -R 65534:65534 '\(base)'") == 0)
        await #expect(processExitsWith: .success) {
            [
                base = base as String, script = script as String, hasNetwork = hasNetwork as Bool,
                version = version as Int32
            ]
            in
            try #require(setgroups(0, nil) == 0 && setregid(65534, 65534) == 0 && setreuid(65534, 65534) == 0)
            let way = Way(engine: .landlock(LandlockVersion(number: version)))
            let seen = try await Place(base: base).run(script, in: Sandbox(hasNetwork: hasNetwork), by: way)
            try Files.writeAtomically(Array(seen.utf8), to: "\(base)/seen")
        }
        defer { unsafe unlink("\(base)/seen") }
        return Self.text(try Files.read("\(base)/seen", limit: 1 << 20))
    }

    func prepare(
        _ words: [String], in sandbox: Sandbox = Sandbox(), by engine: Engine? = Way.bubblewrap.engine,
        launcher: Launcher = Launcher.standalone
    ) async throws -> SandboxedCommand {
        let folder = try Folder(beneath: self.folder)
        return try await SandboxEngine(launcher: launcher, variables: Self.variables, by: engine)
            .command(words, in: sandbox, around: folder, from: folder)
    }

    func names() throws -> [String] { try Files.list(folder).map(\.name).sorted() }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// By what a command is shut in, and whether it is run by an ordinary user where an administrator runs the tests.
struct Way: Sendable, Hashable, CustomTestStringConvertible {
    var engine: Engine
    var isOrdinary = false

    var testDescription: String {
        let name =
            switch engine {
            case .bubblewrap: "bubblewrap"
            case .landlock(let version): "Landlock \(version.number)"
            }
        return isOrdinary ? "\(name), ordinary user" : name
    }

    /// In the strictest form that works here.
    static let bubblewrap = Way(engine: .bubblewrap(BubblewrapForm(program: "/usr/bin/bwrap", kind: kind)))
    static let landlock = landlockVersion.map { Way(engine: .landlock($0)) }

    /// One of each engine.
    static let engines = (hasBubblewrap ? [bubblewrap] : []) + (landlock.map { [$0] } ?? [])
    /// Each engine, for each user.
    static let all = engines + ordinary
    static let ofBubblewrap = all.filter { if case .bubblewrap = $0.engine { true } else { false } }
    /// Also as the oldest kernel has it on which commands are run.
    static let ofLandlock =
        all.filter { if case .landlock = $0.engine { true } else { false } }
        + (landlock == nil ? [] : [Way(engine: .landlock(LandlockVersion(number: 2)))])

    static let hasBubblewrap = unsafe access("/usr/bin/bwrap", X_OK) == 0
    /// Where the kernel has none, these tests are left out.
    static let hasLandlock = landlock != nil

    private static let landlockVersion = try? LandlockVersion.ofKernel().get()

    private static let kind: BubblewrapForm.Kind =
        unsafe system("bwrap --unshare-user --disable-userns --ro-bind / / true 2>/dev/null") == 0
        ? .user : .administrator

    /// An ordinary user of bubblewrap needs name spaces of users, which not every machine gives them.
    private static let ordinary: [Way] = {
        guard geteuid() == 0 else { return [] }
        let probe =
            "setpriv --reuid 65534 --regid 65534 --clear-groups bwrap --unshare-user --ro-bind / / true 2>/dev/null"
        return engines.filter { way in
            if case .bubblewrap = way.engine { return unsafe system(probe) == 0 }
            return true
        }.map { Way(engine: $0.engine, isOrdinary: true) }
    }()
}

extension Folder {
    convenience init(beneath path: String) throws {
        let opened = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(opened >= 0)
        self.init(FileDescriptor(owning: opened, path: path))
    }
}
