import CSandboxKit
import Capabilities
import FileKit
import Glibc
import ProcessKit

/// A command under Landlock rules and a system call filter, with everything that it needs while it runs.
final class LandlockCall: Sendable {
    /// The devices that it may use; none of them belongs to a user.
    private static let devices = ["null", "zero", "full", "random", "urandom"].map { "/dev/\($0)" }

    let command: Command
    private let rules: LandlockRules
    private let scratch: ScratchFolder
    /// The working folder must stay open until the command has started there.
    private let start: Folder?

    /// - Parameters:
    ///   - folder: the writable folder; nil for none.
    ///   - start: the working folder; nil for the root.
    init(
        _ words: [String], _ version: LandlockVersion, _ sandbox: Sandbox, _ mounts: [Mount], around folder: Folder?,
        from start: Folder?, variables: [String: String]
    ) throws(SandboxError) {
        let seen = mounts.filter { $0.kind == .readable || $0.kind == .writable }.map(\.path)
        if let start { try Self.check(start, seen) }
        let rules = try LandlockRules(version)
        let scratch = try ScratchFolder()
        try rules.allow(mounts, around: folder)
        try rules.allow(.write, at: scratch.path)
        // The command sees other processes there but cannot read them: Landlock separates processes under different
        // rules.
        try rules.allow([.readFile, .list], at: "/proc")
        for device in Self.devices { try rules.allow(.device, at: device) }
        (self.rules, self.scratch, self.start) = (rules, scratch, start)

        var inside = variables
        (inside["HOME"], inside["TMPDIR"]) = (scratch.path, scratch.path)
        inside["PATH"] = Self.path(variables["PATH"], seen)
        var command = Command(
            words[0], Array(words.dropFirst()), environment: CommandEnvironment(inside),
            workingDirectory: start.map { "/proc/self/fd/\($0.descriptor.rawValue)" } ?? "/")
        command.restriction = Command.Restriction(
            ruleset: rules.descriptor.rawValue,
            filter: try MemoryFile.filter(version.filter.union(sandbox.hasNetwork ? [] : .noNetwork)))
        // There is no process namespace that would end them.
        command.endsDescendants = true
        command.hasOwnSession = true
        command.errors = .tail(limit: 4096)
        CommandLimits.apply(to: &command)
        self.command = command
    }

    /// The rules alone would let it start anywhere.
    private static func check(_ start: Folder, _ seen: [AbsolutePath]) throws(SandboxError) {
        let place = AbsolutePath(bytes: start.location)
        guard seen.contains(where: place.lies) else {
            throw SandboxError.notMade("the working folder \(PlainText.escape(place.text)) is outside of it")
        }
    }

    /// The parts of PATH that are in the sandbox. A shell stops searching at a program that it finds but may not run.
    private static func path(_ given: String?, _ seen: [AbsolutePath]) -> String? {
        given.map { given in
            let parts = given.split(separator: ":").filter { part in
                // A missing folder has no programs.
                guard part.hasPrefix("/"), let place = try? Files.canonical(String(part)) else { return false }
                return seen.contains(where: AbsolutePath(place).lies)
            }
            return parts.joined(separator: ":")
        }
    }

    /// The shell's exit code for a program that cannot be started, if that is the failure.
    static func exitCode(ofUnstarted error: ProcessError) -> Int32? {
        switch error.kind {
        case .notFound: error.errno == ENOTDIR ? 126 : 127
        case .notExecutable: 126
        default: nil
        }
    }
}

/// A private folder of a command while it runs, in place of the home and of `/tmp`.
///
/// It is locked while this value exists, which distinguishes it from folders that killed processes left behind.
final class ScratchFolder: Sendable {
    private static let above = "/tmp"
    private static let prefix = "martlet-command-"

    let path: String
    private let descriptor: FileDescriptor

    init() throws(SandboxError) {
        var template = Array("\(Self.above)/\(Self.prefix)XXXXXX".utf8CString)
        // Only its owner has access, and its name is unpredictable.
        guard unsafe mkdtemp(&template) != nil else {
            throw SandboxError.notMade("cannot create a folder in \(Self.above): \(SystemError(errno))")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let opened = Self.open(path)
        guard opened >= 0 else {
            let reason = SystemError(errno)
            unsafe rmdir(path)
            throw SandboxError.notMade("\(path): \(reason)")
        }
        descriptor = FileDescriptor(owning: opened, path: path)
        _ = flock(opened, LOCK_EX | LOCK_NB)
    }

    /// Files that the command made unremovable stay.
    deinit {
        _ = sandboxkit_remove_contents(descriptor.rawValue)
        unsafe rmdir(path)
    }

    /// Removes the folders of killed processes.
    static func removeLeftovers() {
        // Without a listing no leftovers are known.
        guard let entries = try? Files.list(above) else { return }
        for entry in entries where entry.kind == .directory && entry.name.hasPrefix(prefix) {
            let path = "\(above)/\(entry.name)"
            let opened = open(path)
            guard opened >= 0 else { continue }
            let folder = FileDescriptor(owning: opened, path: path)
            var status = stat()
            guard unsafe fstat(folder.rawValue, &status) == 0, status.st_uid == geteuid(),
                flock(folder.rawValue, LOCK_EX | LOCK_NB) == 0
            else { continue }
            _ = sandboxkit_remove_contents(folder.rawValue)
            unsafe rmdir(path)
        }
    }

    private static func open(_ path: String) -> Int32 {
        unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }
}
