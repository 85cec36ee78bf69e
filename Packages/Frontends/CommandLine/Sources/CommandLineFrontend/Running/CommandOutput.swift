import Capabilities
import HostKit
import JSON
import Registry
import Synchronization
import TerminalKit

/// Where a command's events, progress and messages go: events and results to standard output, the rest to the other.
final class CommandOutput: ActionOutput {
    private let streams: StandardStreams
    private let format: OutputFormat
    let isQuiet: Bool
    private let progressLine: ProgressLine?
    private let loop: MainLoop
    private let level: ColorLevel
    private let colors: TerminalColors
    private let redactor: Redactor
    private let messages: MessageLines
    /// What draws the text on a terminal; elsewhere it is passed on as it is.
    private let live: LiveText?
    /// Keeps keys from being shown in the midst of what is drawn.
    private let silence = TypingSilence()
    private let sanitizer = Mutex(StreamSanitizer())
    /// Whether results are shown on a terminal.
    private let isTerminal: Bool
    /// Whether results and messages are read together.
    private let isTogether: Bool
    /// Whether the progress line says something.
    private let showsProgress = Mutex(false)
    /// Whether the events have brought text, so that the result need not be printed again.
    private let hasText = Mutex(false)
    private let isInLine = Mutex(false)
    private let hasGivenNotice = Mutex(false)

    init(
        _ streams: StandardStreams, format: OutputFormat, isQuiet: Bool, progressLine: ProgressLine?, loop: MainLoop,
        live: LiveText? = nil, level: ColorLevel, colors: TerminalColors, redactor: Redactor, messages: MessageLines
    ) {
        self.streams = streams
        isTerminal = Terminal(fileDescriptor: streams.output).isTerminal
        isTogether = isTerminal || streams.areOne
        self.format = format
        self.isQuiet = isQuiet
        self.progressLine = progressLine
        self.loop = loop
        self.live = live
        self.level = level
        self.colors = colors
        self.redactor = redactor
        self.messages = messages
    }

    /// What is drawn for a person goes where the progress line would be.
    var isWatched: Bool { format == .text && progressLine != nil }

    var isColored: Bool { level != .none }

    var hasPrintedText: Bool { hasText.withLock { $0 } }

    /// Whether the action has said something in words of its own.
    var hasNoticed: Bool { hasGivenNotice.withLock { $0 } }

    func interruptible<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await loop.interruptible(work)
    }

    /// Ends the last line of a text that did not end it, so that what comes next in the same place begins a line.
    func endLine() throws(OutputError) {
        if isInLine.withLock({ exchange(&$0, with: false) }) { try streams.write("\n") }
    }

    func event(_ event: ActionEvent) async throws { try await events([event]) }

    func events(_ events: [ActionEvent]) async throws {
        switch format {
        case .ndjson:
            let lines = events.map { $0.json.text() + "\n" }.joined()
            // A program gets every byte; on a terminal the same text must command nothing.
            try await print(isTerminal ? Sanitizer.sanitize(lines) : lines)
        case .text, .markdown:
            if events.contains(.clear) { try await clear() }
            // What an action says in Markdown is its result in that form already.
            let events = events.filter {
                $0.text?.isEmpty == false && (format == .text || $0.format == .markdown)
            }
            guard !events.isEmpty else { return }
            hasText.withLock { $0 = true }
            if let live {
                for event in events { try await show(event.text ?? "", event.format, live) }
                return
            }
            let text = events.map { $0.text ?? "" }.joined()
            let clean = sanitizer.withLock { $0.sanitize(Array(text.utf8)) }
            retireProgress()
            beSilent()
            if let last = clean.last { isInLine.withLock { $0 = last != UInt8(ascii: "\n") } }
            try await print(String(decoding: clean, as: UTF8.self))
        case .json, .csv:
            return
        }
    }

    /// Begins at the top of an empty window, where there is one that can be cleared.
    private func clear() async throws {
        guard let live else { return }
        try await withTaskExecutorPreference(loop) {
            retireProgress()
            try live.clear()
        }
    }

    /// A slow reader makes the write wait; that must be the main thread, which nobody else needs.
    private func print(_ text: String) async throws {
        try await withTaskExecutorPreference(loop) {
            try around { () throws(OutputError) in try streams.write(text) }
        }
    }

    /// The text is what shows that the work goes on, so the progress line gives way to it: drawn in the line that the
    /// text has not ended, it would erase what was said.
    func retireProgress() {
        if showsProgress.withLock({ exchange(&$0, with: false) }) { progressLine?.retire() }
    }

    /// What is typed from now on is not shown in the midst of what is drawn, and kept for the next question.
    ///
    /// Behind a pipe there may be a pager, which has the terminal in modes of its own.
    private func beSilent() {
        guard isTerminal, progressLine != nil || live != nil else { return }
        // What asks the terminal needs it for itself.
        if level != .none || live != nil { _ = colors.theme }
        silence.begin()
    }

    private func show(_ text: String, _ format: ActionEvent.TextFormat, _ live: LiveText) async throws {
        try await withTaskExecutorPreference(loop) {
            retireProgress()
            beSilent()
            switch format {
            case .markdown: try live.show(markdown: text)
            case .plain: try live.show(plain: text)
            }
        }
    }

    /// Draws what waits to be drawn until the surrounding task is cancelled.
    func run() async { await live?.run() }

    /// Ends the text that is being drawn, before anything else is shown.
    func settle() {
        // An output that is gone says so to the next event, or to the result.
        do {
            try live?.settle()
            // Behind a pipe of its own the text goes elsewhere, so nothing is added to it.
            if isTogether { try endLine() }
        } catch {}
    }

    /// Ends all that is shown.
    func finish() {
        settle()
        silence.end()
    }

    func progress(_ progress: Progress) {
        guard !isQuiet else { return }
        var progress = progress
        progress.activity = redactor.redact(progress.activity)
        if format == .ndjson {
            var line: JSONObject = ["type": "progress"]
            for (name, value) in progress.json.object ?? [:] { line.append(name, value) }
            streams.writeError(JSON.object(line).text())
        } else if let progressLine {
            settle()
            // The line that a piped text has not ended may be one of this terminal.
            guard !isInLine.withLock({ $0 }) else { return }
            beSilent()
            showsProgress.withLock { $0 = true }
            progressLine.update(StyledText(Sanitizer.sanitize(progress.activity)), fraction: progress.fraction)
        }
    }

    func notice(_ text: String) {
        guard !isQuiet else { return }
        hasGivenNotice.withLock { $0 = true }
        let text = redactor.redact(text)
        if format.isForPrograms {
            streams.writeError(JSON.object(["type": "notice", "message": .string(text)]).text())
        } else {
            settle()
            let lines = messages.lines(of: Sanitizer.sanitize(text))
            around { streams.writeError(lines.joined(separator: "\n")) }
        }
    }

    /// A line that belongs to a question, and so is shown however quiet the command is.
    func say(_ text: StyledText) {
        for line in text.wrapped(to: messages.width() ?? .max / 2) {
            streams.writeError(line.rendered(level: level, theme: colors.theme))
        }
    }

    /// Lends the terminal to a question.
    func aroundQuestion<Result>(_ body: () async throws -> Result) async throws -> Result {
        finish()
        // What asks the terminal has to be over before the person is asked.
        if level != .none { _ = colors.theme }
        colors.settle()
        guard let progressLine else { return try await body() }
        return try await progressLine.around(body)
    }

    private func around<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard let progressLine else { return try body() }
        return try progressLine.around(body)
    }
}
