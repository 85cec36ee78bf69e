import Capabilities
import FileKit
import Glibc
public import ProcessKit

/// A command in its sandbox. What is guarded in its folder stays guarded for as long as this value is there, so it has to
/// be kept until the command has ended.
public final class SandboxedCommand: Sendable {
    /// What is to be started. Its messages are those of bubblewrap: what the command itself has to say it says elsewhere.
    public let command: Command
    private let guarded: GuardedNames?
    private let options: FileDescriptor
    private let filter: FileDescriptor
    /// What bubblewrap tells of how it went.
    private let status: FileDescriptor

    init(
        _ words: [String], options: [[UInt8]], variables: [String: String], guarded: GuardedNames?
    ) throws(SandboxError) {
        self.guarded = guarded
        self.filter = try MemoryFile.withFilter()
        // In memory, since a command could read the arguments of bubblewrap, which name what is hidden.
        let inside = variables.sorted { $0.key < $1.key }.flatMap { ["--setenv".bytes, $0.key.bytes, $0.value.bytes] }
        self.options = try MemoryFile.holding((["--clearenv".bytes] + inside + options).flatMap { $0 + [0] })
        // Neither its place nor its variables are the command's: they could have it load or be another program.
        var command = Command(
            try Self.program(), ["--args", "4", "--seccomp", "5", "--json-status-fd", "6", "--"] + words,
            environment: CommandEnvironment([:]), workingDirectory: "/")
        self.status = try MemoryFile.holding([])
        command.descriptors = [self.options.rawValue, self.filter.rawValue, self.status.rawValue]
        command.errors = .tail(limit: 4096)
        self.command = command
    }

    /// Where systems install bubblewrap.
    private static func program() throws(SandboxError) -> String {
        let places = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"].map { "\($0)/bwrap" }
        if let place = places.first(where: Files.exists) { return place }
        throw SandboxError(.unavailable, "commands have to run in a sandbox of bubblewrap; \(SandboxError.mend)")
    }

    /// Why the sandbox could not be made or the program not be started in it, by how it ended and what it said; nil where
    /// the command has run.
    public func failure(_ status: ChildStatus?, errors: [UInt8]) -> SandboxError? {
        hasFailed(status) ? Self.failure(errors) : nil
    }

    static func failure(_ errors: [UInt8]) -> SandboxError {
        SandboxError(
            .unavailable, "the sandbox of the command could not be made: \(SandboxEngine.firstLine(of: errors))")
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
        return SandboxEngine.firstLine(of: errors).hasSuffix("No such file or directory") ? 127 : 126
    }
}
