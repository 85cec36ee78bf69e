import CTerminalKit
import Glibc

/// Asks the user at the controlling terminal, so that standard input may be a pipe.
///
/// The terminal is restored however a question ends: by an answer, an error, cancellation, `exit`, a signal that ends
/// the process, or a crash.
public struct TerminalInput: Sendable {
    private let path: String
    private let level: ColorLevel
    private let theme: Theme

    /// Input from the terminal at `path`, by default the controlling one.
    public init(path: String = "/dev/tty", level: ColorLevel = .none, theme: Theme = .dark) {
        self.path = path
        self.level = level
        self.theme = theme
    }

    /// Asks for a line and shows it while it is typed; nil if the user ended the input (Ctrl-D).
    ///
    /// Throws `interrupted` on Ctrl-C, and `cancelled` as soon as the surrounding task is cancelled.
    public func readLine(prompt: StyledText) async throws(TerminalError) -> String? {
        try await read(prompt, isSecret: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Asks for a line of at most 65,536 bytes without showing it; otherwise like ``readLine(prompt:)``.
    ///
    /// The answer is the only copy, so that the caller may overwrite it after use.
    public func readSecret(prompt: StyledText) async throws(TerminalError) -> [UInt8]? {
        try await read(prompt, isSecret: true)
    }

    /// Asks a question that earlier input does not answer, because its author had not seen the question. That input is
    /// kept for the next reader.
    public func unanswered<Result>(_ ask: () async throws -> Result) async throws -> Result {
        let typed = try await TerminalDevice.with(path: path, mode: .line) { device throws(TerminalError) in
            try device.takeTyped()
        }
        defer { TerminalDevice.keep(typed) }
        return try await ask()
    }

    /// Restores the terminal. It is async-signal-safe, for the signal handler of a process, and harmless at any time.
    public static let restore: @convention(c) () -> Void = martlet_terminal_restore

    /// Discards input that was not read, so that it does not become a command of the next program.
    public static func discardTyping(path: String = "/dev/tty") {
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        if martlet_terminal_is_ours(descriptor) { tcflush(descriptor, TCIFLUSH) }
    }

    private func read(_ prompt: StyledText, isSecret: Bool) async throws(TerminalError) -> [UInt8]? {
        let question = Question(prompt: prompt, isSecret: isSecret, level: level, theme: theme)
        return try await TerminalDevice.with(path: path, mode: isSecret ? .secret : .line) {
            device throws(TerminalError) in try question.ask(on: device)
        }
    }
}

/// One prompt and its answer, on a thread that may block.
struct Question: Sendable {
    let prompt: StyledText
    let isSecret: Bool
    let level: ColorLevel
    let theme: Theme

    func ask(on device: borrowing TerminalDevice) throws(TerminalError) -> [UInt8]? {
        var editor = LineEditor(isSecret: isSecret)
        defer { device.endLine() }
        do throws(TerminalError) {
            if try converse(on: device, &editor) { return editor.bytes }
        } catch {
            editor.wipe()
            throw error
        }
        editor.wipe()
        return nil
    }

    /// Whether there is an answer; false if the input ended without one.
    private func converse(
        on device: borrowing TerminalDevice, _ editor: inout LineEditor
    ) throws(TerminalError) -> Bool {
        try device.write(introduction(columns: device.columns) + display(editor, columns: device.columns))
        while true {
            let step: LineEditor.Step
            var needsDrawing = false
            let start = ContinuousClock.now
            switch try device.read(within: editor.patience) {
            case .byte(let byte): step = editor.receive(byte, after: .now - start)
            case .quiet: step = editor.stopWaiting()
            case .continued: (step, needsDrawing) = (.unfinished, true)
            case .end, .resized: return false
            }
            // A paste is drawn once, not once for each of its characters.
            if needsDrawing || !isSecret && (step != .unfinished || !device.hasInput) {
                try device.write(display(editor, columns: device.columns))
            }
            switch step {
            case .unfinished: break
            case .suspended:
                device.endLine()
                device.suspend()
            case .finished: return true
            case .end: return false
            case .interrupted: throw TerminalError(.interrupted, "interrupted at the prompt")
            case .tooLong:
                throw TerminalError(
                    .tooLong, "the line is longer than \(LineEditor.limit) bytes; pass the value as a file")
            }
        }
    }

    /// All but the last row of a prompt longer than one row, because the user must see all of it.
    func introduction(columns: Int) -> String {
        rows(columns).dropLast().map { "\r" + $0.rendered(level: level, theme: theme) + "\u{1B}[K\r\n" }.joined()
    }

    /// The last row of the prompt and the end of the typed text, on one row whatever its length.
    func display(_ editor: LineEditor, columns: Int) -> String {
        // The window may have become narrower.
        let prompt = (rows(columns).last ?? StyledText()).truncated(to: max(1, columns - 11))
        let typed = isSecret ? "" : editor.visibleTail(width: max(1, columns - 1 - prompt.width))
        return "\r" + prompt.rendered(level: level, theme: theme) + typed + "\u{1B}[K"
    }

    /// The prompt in rows that leave room for an answer.
    private func rows(_ columns: Int) -> [StyledText] {
        let prompt = prompt.singleLine
        let room = max(1, columns - 11)
        guard prompt.width > room else { return [prompt] }
        var rows = prompt.wrapped(to: room)
        // Wrapping drops the space before the answer.
        if prompt.plainText.hasSuffix(" "), let last = rows.last, !last.plainText.hasSuffix(" ") {
            rows[rows.count - 1] = last + StyledText(" ")
        }
        return rows
    }
}
