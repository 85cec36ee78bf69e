import Capabilities
import FileKit
public import ProcessKit

/// A command in its sandbox. What is guarded in its folder stays guarded for as long as this value is there, and so does the
/// scratch folder of the command, so it has to be kept until the command has ended.
public final class SandboxedCommand: Sendable {
    enum Call: Sendable {
        case bubblewrap(BubblewrapCall)
        case landlock(LandlockCall)
    }

    /// What is to be started. Its messages may be those of bubblewrap: what the command itself has to say it says elsewhere.
    ///
    /// A `ProcessError` in starting it is about the command where its kind is `notFound` or `notExecutable` and the engine
    /// is Landlock, and about the sandbox else.
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

    /// Why the sandbox could not be made or the program not be started in it, by how it ended and what it said; nil where
    /// the command has run.
    public func failure(_ status: ChildStatus?, errors: [UInt8]) -> SandboxError? {
        hasFailed(status) ? SandboxError.notMade(SandboxError.firstLine(of: errors)) : nil
    }

    /// Whether it has ended by itself and the program was not started.
    func hasFailed(_ ended: ChildStatus?) -> Bool {
        guard case .bubblewrap(let call) = call else { return false }
        return call.hasFailed(ended)
    }

    /// The exit code by which a shell tells that it cannot start a program, where that is the failure.
    func exitCode(ofUnstarted errors: [UInt8]) -> Int32? {
        guard case .bubblewrap = call else { return nil }
        return BubblewrapCall.exitCode(ofUnstarted: errors)
    }

    func exitCode(ofUnstarted error: ProcessError) -> Int32? {
        guard case .landlock = call else { return nil }
        return LandlockCall.exitCode(ofUnstarted: error)
    }
}

/// What a command and all that it starts may take of the machine, so that one that goes wild ends, and not the machine. They
/// are far above what builds and tests take.
///
/// The address space has no limit, since many programs reserve a lot that they never use.
enum CommandLimits {
    /// How many processes and threads it may add to those that there are when it starts. An administrator has no such limit.
    static let moreTasks = 2048
    /// How many bytes of memory of its own each of its processes may have.
    static let mostData = 8 << 30

    static func apply(to command: inout Command) {
        command.mostTasks = tasks().map { $0 + moreTasks }
        command.mostData = mostData
    }

    /// How many there are on the machine: the kernel counts those of the user, which are fewer. Nil without `/proc`.
    private static func tasks() -> Int? {
        // "0.20 0.18 0.12 1/80 11206": the fourth is those that run, and all.
        guard let line = try? Files.read("/proc/loadavg", limit: 256) else { return nil }
        let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
        return fields.dropFirst(3).first?.split(separator: "/").last.flatMap { Int($0) }
    }
}
