import CTerminalKit
import Glibc

/// Asks the person at the controlling terminal, so that standard input may be a pipe.
///
/// While a question is open, the terminal is put back on every way out: an answer, an error, cancellation, `exit`,
/// a signal that ends the process, and a crash.
public struct TerminalInput: Sendable {
    private let path: String
    private let level: ColorLevel
    private let theme: Theme

    /// Input from the terminal at `path`, the controlling one unless said.
    public init(path: String = "/dev/tty", level: ColorLevel = .none, theme: Theme = .dark) {
        self.path = path
        self.level = level
        self.theme = theme
    }

    /// Asks for a line and shows it while it is typed; nothing when the person ended the input (Ctrl-D).
    ///
    /// Throws `interrupted` on Ctrl-C, and `cancelled` as soon as the surrounding task is.
    public func readLine(prompt: StyledText) async throws(TerminalError) -> String? {
        try await read(prompt, isSecret: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Asks for a line without showing it, at most 65,536 bytes; otherwise as ``readLine(prompt:)``.
    ///
    /// The answer is the only copy; the caller may overwrite it after use.
    public func readSecret(prompt: StyledText) async throws(TerminalError) -> [UInt8]? {
        try await read(prompt, isSecret: true)
    }

    /// Asks something to which nothing counts that was typed before: whoever typed it had not seen the question. It is kept
    /// for who reads next afterwards.
    public func unanswered<Result>(_ ask: () async throws -> Result) async throws -> Result {
        let typed = try await TerminalDevice.with(path: path, mode: .line) { device throws(TerminalError) in
            try device.takeTyped()
        }
        defer { TerminalDevice.keep(typed) }
        return try await ask()
    }

    /// Puts the terminal back; async-signal-safe, for the signal handler of a process, and harmless at any time.
    public static let restore: @convention(c) () -> Void = martlet_terminal_restore

    /// Forgets what was typed and not read, so that what was meant for this program is no command to the next one.
    public static func discardTyping(path: String = "/dev/tty") {
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let foreground = tcgetpgrp(descriptor)
        if foreground < 0 || foreground == getpgrp() { tcflush(descriptor, TCIFLUSH) }
    }

    private func read(_ prompt: StyledText, isSecret: Bool) async throws(TerminalError) -> [UInt8]? {
        let question = Question(prompt: prompt, isSecret: isSecret, level: level, theme: theme)
        return try await TerminalDevice.with(path: path, mode: isSecret ? .secret : .line) {
            device throws(TerminalError) in try question.ask(on: device)
        }
    }
}
