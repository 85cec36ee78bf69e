import FileKit
import ProcessKit

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
