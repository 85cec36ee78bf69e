import Capabilities
import CoreTesting
import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

/// A folder for running commands, with a home and another folder next to it. It is not in `/tmp`, because commands have
/// a private one.
struct Place: Sendable {
    static let variables = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]

    let base: String
    var folder: String { "\(base)/work" }

    static func run(_ body: (Place) async throws -> Void) async throws {
        // Not in /tmp, which is private in the sandbox.
        try await TemporaryDirectory.run(in: "/var/tmp") { base in
            let place = Place(base: base)
            // Commands in the sandbox may take away the rights that removing needs.
            defer { unsafe system("chmod -R u+rwx '\(base)'") }
            #expect(unsafe chmod(base, 0o755) == 0)
            try Files.makeDirectories(place.folder, mode: 0o755)
            try Files.makeDirectories("\(base)/outside", mode: 0o777)
            try await body(place)
        }
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

    /// The output of `bash` in the sandbox, including errors.
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

    /// Landlock rules apply to the program itself, so another process changes the user.
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

/// The engine of a command, and whether an ordinary user runs it if an administrator runs the tests.
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

    /// The strictest form that works here.
    static let bubblewrap = Way(engine: .bubblewrap(BubblewrapForm(program: "/usr/bin/bwrap", kind: kind)))
    static let landlock = landlockVersion.map { Way(engine: .landlock($0)) }

    /// One way for each engine.
    static let engines = (hasBubblewrap ? [bubblewrap] : []) + (landlock.map { [$0] } ?? [])
    /// Each engine with each user.
    static let all = engines + ordinary
    static let ofBubblewrap = all.filter { if case .bubblewrap = $0.engine { true } else { false } }
    /// Including the oldest Landlock version on which commands run.
    static let ofLandlock =
        all.filter { if case .landlock = $0.engine { true } else { false } }
        + (landlock == nil ? [] : [Way(engine: .landlock(LandlockVersion(number: 2)))])

    static let hasBubblewrap = unsafe access("/usr/bin/bwrap", X_OK) == 0
    /// If the kernel has no Landlock, these tests are skipped.
    static let hasLandlock = landlock != nil

    private static let landlockVersion = try? LandlockVersion.ofKernel().get()

    private static let kind: BubblewrapForm.Kind =
        unsafe system("bwrap --unshare-user --disable-userns --ro-bind / / true 2>/dev/null") == 0
        ? .user : .administrator

    /// An ordinary user needs user namespaces for bubblewrap, which not every machine allows.
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
