import Capabilities
import FileKit
import Glibc
import ProcessKit

/// A call of bubblewrap, with the descriptors for its input and its status.
final class BubblewrapCall: Sendable {
    let command: Command
    private let options: FileDescriptor
    private let filter: FileDescriptor
    private let status: FileDescriptor

    init(
        _ words: [String], _ form: BubblewrapForm, _ sandbox: Sandbox, _ mounts: [Mount], from start: [UInt8],
        variables: [String: String]
    ) throws(SandboxError) {
        // Each command gets its own file, because readers share the offset of a descriptor.
        self.filter = try MemoryFile.holding(MemoryFile.filter([]))
        // In memory, because a command could read bubblewrap's arguments, which name the hidden paths.
        let inside = variables.sorted { $0.key < $1.key }.flatMap { ["--setenv".bytes, $0.key.bytes, $0.value.bytes] }
        let all =
            ["--clearenv".bytes] + inside + form.options.map(\.bytes) + Self.options(sandbox, mounts)
            + ["--chdir".bytes, start]
        self.options = try MemoryFile.holding(all.flatMap { $0 + [0] })
        // bubblewrap gets neither the folder nor the variables of the command, which could make it load other code.
        var command = Command(
            form.program, ["--args", "4", "--seccomp", "5", "--json-status-fd", "6", "--"] + words,
            environment: CommandEnvironment([:]), workingDirectory: "/")
        self.status = try MemoryFile.holding([])
        command.descriptors = [self.options.rawValue, self.filter.rawValue, self.status.rawValue]
        command.errors = .tail(limit: 4096)
        // In a user namespace, groups cannot be dropped.
        command.hasNoGroups = true
        CommandLimits.apply(to: &command)
        self.command = command
    }

    /// A view of the machine that starts empty, so that later mounts do not appear in it.
    private static func options(_ sandbox: Sandbox, _ mounts: [Mount]) -> [[UInt8]] {
        var options = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        if !sandbox.hasNetwork { options.append("--unshare-net") }
        // An administrator would keep capabilities, and with them a way out.
        options += ["--cap-drop", "ALL"]
        for (path, target) in Sandbox.systemLinks() { options += ["--symlink", target, path] }
        options += ["--dev", "/dev", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
        return options.map(\.bytes) + Mount.options(mounts) + ["--remount-ro".bytes, "/".bytes]
    }

    /// Whether bubblewrap ended by itself without starting the program.
    ///
    /// bubblewrap reports an exit code only for a program that it started, and that program cannot write here.
    func hasFailed(_ ended: ChildStatus?) -> Bool {
        guard case .exited = ended else { return false }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe pread(status.rawValue, &bytes, bytes.count, 0)
        return !String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).contains("\"exit-code\"")
    }

    /// The shell's exit code for a program that cannot be started, if that is the failure.
    static func exitCode(ofUnstarted errors: [UInt8]) -> Int32? {
        guard errors.starts(with: "bwrap: execvp ".utf8) else { return nil }
        return SandboxError.firstLine(of: errors).hasSuffix("No such file or directory") ? 127 : 126
    }
}

/// How bubblewrap isolates a command.
struct BubblewrapForm: Hashable, Sendable {
    /// The strictest first.
    enum Kind: CaseIterable {
        /// In a user namespace that cannot contain further ones.
        case user
        /// For bubblewrap before 0.8. The system call filter refuses further user namespaces.
        case olderUser
        /// For an administrator without user namespaces, as in many containers. Without capabilities the administrator
        /// only owns files, and files outside of the folder are read-only.
        case administrator
    }

    /// The path of bubblewrap.
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
