import Capabilities
import FileKit
public import ProcessKit

/// A command in its sandbox. Keep this value until the command has ended: it holds the guard of the folder and the
/// command's scratch folder.
public final class SandboxedCommand: Sendable {
    enum Call: Sendable {
        case bubblewrap(BubblewrapCall)
        case landlock(LandlockCall)
    }

    /// The command to start. Its error output may come from bubblewrap; the output of the program itself goes
    /// elsewhere.
    ///
    /// If starting it throws a `ProcessError` of kind `notFound` or `notExecutable` and the engine is Landlock, the
    /// error concerns the program. Otherwise it concerns the sandbox.
    public let command: Command
    private let call: Call
    private let guarded: GuardedNames

    init(_ call: Call, _ guarded: GuardedNames) {
        (self.call, self.guarded) = (call, guarded)
        command =
            switch call {
            case .bubblewrap(let call): call.command
            case .landlock(let call): call.command
            }
    }

    var kind: SandboxSupport.Kind {
        switch call {
        case .bubblewrap: .bubblewrap
        case .landlock: .landlock
        }
    }

    /// Why the sandbox could not be created, or the program not be started in it; nil if the program ran.
    public func failure(_ status: ChildStatus?, errors: [UInt8]) -> SandboxError? {
        hasFailed(status) ? SandboxError.notMade(SandboxError.firstLine(of: errors)) : nil
    }

    /// Whether the sandbox ended by itself without starting the program.
    func hasFailed(_ ended: ChildStatus?) -> Bool {
        guard case .bubblewrap(let call) = call else { return false }
        return call.hasFailed(ended)
    }

    /// The shell's exit code for a program that cannot be started, if that is the failure.
    func exitCode(ofUnstarted errors: [UInt8]) -> Int32? {
        guard case .bubblewrap = call else { return nil }
        return BubblewrapCall.exitCode(ofUnstarted: errors)
    }

    func exitCode(ofUnstarted error: ProcessError) -> Int32? {
        guard case .landlock = call else { return nil }
        return LandlockCall.exitCode(ofUnstarted: error)
    }
}

/// Resource limits of a command and its descendants, far above the needs of builds and tests. A runaway command fails,
/// and not the machine.
///
/// The address space is not limited, because many programs reserve far more than they use.
enum CommandLimits {
    /// How many processes and threads it may add to the existing ones. This does not limit an administrator.
    static let moreTasks = 2048
    /// The maximum private memory of each process, in bytes.
    static let mostData = 8 << 30

    static func apply(to command: inout Command) {
        command.mostTasks = tasks().map { $0 + moreTasks }
        command.mostData = mostData
    }

    /// The number of tasks on the machine. The kernel counts only the user's, which are fewer. Nil without `/proc`.
    private static func tasks() -> Int? {
        // "0.20 0.18 0.12 1/80 11206": the fourth field has the running tasks and all tasks.
        guard let line = try? Files.read("/proc/loadavg", limit: 256) else { return nil }
        let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
        return fields.dropFirst(3).first?.split(separator: "/").last.flatMap { Int($0) }
    }
}
