import Capabilities
import FileKit
import Glibc
import ProcessKit

/// A call of bubblewrap, with the descriptors by which it is told what to do and tells how it went.
final class BubblewrapCall: Sendable {
    let command: Command
    private let options: FileDescriptor
    private let filter: FileDescriptor
    private let status: FileDescriptor

    init(
        _ words: [String], _ form: BubblewrapForm, _ sandbox: Sandbox, _ mounts: [Mount], from start: [UInt8],
        variables: [String: String]
    ) throws(SandboxError) {
        // Each command gets its own file, since whoever reads one moves its offset for all who have it.
        self.filter = try MemoryFile.holding(MemoryFile.filter([]))
        // In memory, since a command could read the arguments of bubblewrap, which name what is hidden.
        let inside = variables.sorted { $0.key < $1.key }.flatMap { ["--setenv".bytes, $0.key.bytes, $0.value.bytes] }
        let all =
            ["--clearenv".bytes] + inside + form.options.map(\.bytes) + Self.options(sandbox, mounts)
            + ["--chdir".bytes, start]
        self.options = try MemoryFile.holding(all.flatMap { $0 + [0] })
        // Neither its place nor its variables are the command's: they could have it load or be another program.
        var command = Command(
            form.program, ["--args", "4", "--seccomp", "5", "--json-status-fd", "6", "--"] + words,
            environment: CommandEnvironment([:]), workingDirectory: "/")
        self.status = try MemoryFile.holding([])
        command.descriptors = [self.options.rawValue, self.filter.rawValue, self.status.rawValue]
        command.errors = .tail(limit: 4096)
        // In a name space of users nobody can drop them.
        command.hasNoGroups = true
        CommandLimits.apply(to: &command)
        self.command = command
    }

    /// A view of the machine that is built up from nothing, so that what is mounted or made later is not in it either.
    private static func options(_ sandbox: Sandbox, _ mounts: [Mount]) -> [[UInt8]] {
        var options = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        if !sandbox.hasNetwork { options.append("--unshare-net") }
        // An administrator keeps theirs otherwise, and with them the way out.
        options += ["--cap-drop", "ALL"]
        for (path, target) in Sandbox.systemLinks() { options += ["--symlink", target, path] }
        options += ["--dev", "/dev", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
        return options.map(\.bytes) + Mount.options(mounts) + ["--remount-ro".bytes, "/".bytes]
    }

    /// Whether it has ended by itself and the program was not started.
    ///
    /// Bubblewrap tells an exit code of what it could start only, and what it starts cannot write here.
    func hasFailed(_ ended: ChildStatus?) -> Bool {
        guard case .exited = ended else { return false }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe pread(status.rawValue, &bytes, bytes.count, 0)
        return !String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).contains("\"exit-code\"")
    }

    /// The exit code by which a shell tells that it cannot start a program, where that is the failure.
    static func exitCode(ofUnstarted errors: [UInt8]) -> Int32? {
        guard errors.starts(with: "bwrap: execvp ".utf8) else { return nil }
        return SandboxError.firstLine(of: errors).hasSuffix("No such file or directory") ? 127 : 126
    }
}

/// How bubblewrap gives a command its own view of this machine.
struct BubblewrapForm: Hashable, Sendable {
    /// The strictest first.
    enum Kind: CaseIterable {
        /// In a user name space in which no further one can be made.
        case user
        /// For bubblewrap before 0.8; the filter of system calls refuses further ones.
        case olderUser
        /// For an administrator without user name spaces, as in many containers. Without capabilities they own files
        /// only, and those outside of the folder are read-only.
        case administrator
    }

    /// Where it is installed.
    let program: String
    let kind: Kind

    var options: [String] {
        switch kind {
        case .user: ["--unshare-user", "--disable-userns"]
        case .olderUser: ["--unshare-user"]
        case .administrator: []
        }
    }
}
