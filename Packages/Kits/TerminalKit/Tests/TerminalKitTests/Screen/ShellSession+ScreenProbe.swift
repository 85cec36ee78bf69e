import Glibc
import TerminalTesting

extension ShellSession {
    /// Runs the program for the tests until it has painted, and returns its process.
    @discardableResult
    func start(_ settings: String...) throws -> pid_t {
        try begin(settings)
        return try painted()
    }

    /// Types the command of the program.
    func begin(_ settings: [String]) throws {
        type(ScreenProbe.command(settings) + "\n")
        try output(upTo: "2>/dev/null\r\n")
    }

    /// Waits for a frame, and returns the process that painted it.
    @discardableResult
    func painted() throws -> pid_t {
        try output(upTo: "pid=")
        let frame = try output(upTo: ".")
        guard let pid = pid_t(frame.prefix { $0.isNumber }) else {
            throw TestTerminalError(message: "no process in \(frame.debugDescription)")
        }
        return pid
    }

    /// Runs the program in a session without job control. Returns its process and the modes that it has set.
    func startAlone() throws -> (program: pid_t, modes: termios) {
        type("exec sh -c \"\(ScreenProbe.command(["mouse"])); cat\"\n")
        try output(upTo: "cat\"\r\n")
        let program = try painted()
        var modes = termios()
        guard unsafe tcgetattr(pty.slave, &modes) == 0 else { throw TestTerminalError(message: "no modes: \(errno)") }
        return (program, modes)
    }
}
