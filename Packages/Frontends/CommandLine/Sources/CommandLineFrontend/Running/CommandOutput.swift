import Capabilities
import HostKit
import JSON
import Registry
import Screens
import Synchronization
import TerminalKit

/// The output of a command: events and results go to standard output, progress and notices to standard error.
final class CommandOutput: ActionOutput {
    private let streams: StandardStreams
    private let format: OutputFormat
    let isQuiet: Bool
    private let progressLine: ProgressLine?
    /// Draws the block that the action shows; nil if nobody watches.
    private let liveBlock: LiveBlock?
    private let loop: MainLoop
    private let level: ColorLevel
    private let colors: TerminalColors
    private let redactor: Redactor
    private let messages: MessageLines
    /// Draws text on a terminal; nil if text is passed on unchanged.
    private let live: LiveText?
    /// Keeps typed keys from appearing in the middle of the output.
    private let silence = TypingSilence()
    private let sanitizer = Mutex(StreamSanitizer())
    /// Whether results are shown on a terminal.
    private let isTerminal: Bool
    /// Whether results and messages go to the same place.
    private let isTogether: Bool
    /// Whether the progress line shows anything.
    private let showsProgress = Mutex(false)
    /// Whether the events have printed text, so that the result need not be printed again.
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
        liveBlock =
            progressLine == nil || format != .text
            ? nil
            : LiveBlock(Terminal(fileDescriptor: 2), level: level) {
                level == .none ? .plain : colors.theme
            }
        self.loop = loop
        self.live = live
        self.level = level
        self.colors = colors
        self.redactor = redactor
        self.messages = messages
    }

    /// Progress is drawn on the progress line, so without one nobody watches.
    var isWatched: Bool { format == .text && progressLine != nil }

    var isColored: Bool { level != .none }

    var hasPrintedText: Bool { hasText.withLock { $0 } }

    /// Whether the action has given a notice.
    var hasNoticed: Bool { hasGivenNotice.withLock { $0 } }

    func interruptible<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await loop.interruptible(work)
    }

    /// Ends an unfinished line, so that the next output begins on a new line.
    func endLine() throws(OutputError) {
        if isInLine.withLock({ exchange(&$0, with: false) }) { try streams.write("\n") }
    }

    func event(_ event: ActionEvent) async throws { try await events([event]) }

    func events(_ events: [ActionEvent]) async throws {
        switch format {
        case .ndjson:
            let lines = events.map { $0.json.text() + "\n" }.joined()
            // A program gets every byte; on a terminal the same text must not act as control sequences.
            try await print(isTerminal ? Sanitizer.sanitize(lines) : lines)
        case .text, .markdown:
            if events.contains(.clear) { try await clear() }
            // Markdown text of an action already has the requested format.
            let events = events.filter {
                $0.text?.isEmpty == false && (format == .text || $0.format == .markdown)
            }
            guard !events.isEmpty else { return }
            hasText.withLock { $0 = true }
            liveBlock?.settle()
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

    /// Clears the window, if the output is a terminal that supports it.
    private func clear() async throws {
        guard let live else { return }
        try await withTaskExecutorPreference(loop) {
            retireProgress()
            try live.clear()
        }
    }

    /// A slow reader blocks the write. That must happen on the main thread, which has nothing else to do.
    private func print(_ text: String) async throws {
        try await withTaskExecutorPreference(loop) {
            try around { () throws(OutputError) in try streams.write(text) }
        }
    }

    /// Hides the progress line when text arrives, because the text itself shows progress. If both shared an unfinished
    /// line, the progress line would erase the text.
    func retireProgress() {
        if showsProgress.withLock({ exchange(&$0, with: false) }) { progressLine?.retire() }
    }

    /// From now on, typed keys are not shown in the middle of the output; they are kept for the next question.
    ///
    /// Only on a terminal: behind a pipe there may be a pager that uses the terminal in its own mode.
    private func beSilent() {
        guard isTerminal, progressLine != nil || live != nil else { return }
        // The query for the terminal's colours needs the terminal for itself.
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

    /// Draws pending text until the surrounding task is cancelled.
    func run() async { await live?.run() }

    /// Finishes the text that is being drawn, before anything else is shown.
    func settle() {
        liveBlock?.settle()
        // If the output is gone, the next event or the result reports it.
        do {
            try live?.settle()
            // Only if results and messages share a terminal: text in a separate pipe must stay unchanged.
            if isTogether { try endLine() }
        } catch {}
    }

    /// Finishes everything that is being shown.
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
            // What the action shows of its work says more.
            guard liveBlock?.isShown != true else { return }
            settle()
            // An unfinished line of piped text may be on this terminal.
            guard !isInLine.withLock({ $0 }) else { return }
            beSilent()
            showsProgress.withLock { $0 = true }
            progressLine.update(StyledText(Sanitizer.sanitize(progress.activity)), fraction: progress.fraction)
        }
    }

    var showsBlocks: Bool { liveBlock != nil }

    func show(_ block: Block) {
        guard let liveBlock else { return }
        retireProgress()
        beSilent()
        liveBlock.show(block)
    }

    func notice(_ text: String) {
        guard !isQuiet else { return }
        hasGivenNotice.withLock { $0 = true }
        let text = redactor.redact(text)
        if format.isForPrograms {
            streams.writeError(JSON.object(["type": "notice", "message": .string(text)]).text())
        } else {
            let lines = messages.lines(of: Sanitizer.sanitize(text))
            if liveBlock?.say(lines.map { StyledText($0) }) == true { return }
            settle()
            around { streams.writeError(lines.joined(separator: "\n")) }
        }
    }

    /// Prints an entry of the log, even with --quiet.
    func log(_ entry: LogRecord, isForJournal: Bool) {
        if format.isForPrograms, !isForJournal {
            var line: JSONObject = ["type": "log"]
            for (name, value) in entry.json { line.append(name, value) }
            return streams.writeError(JSON.object(line).text())
        }
        let line = entry.text(isForJournal: isForJournal)
        if liveBlock?.say([StyledText(line)]) == true { return }
        settle()
        around { streams.writeError(line) }
    }

    /// Prints a line of a question, even with --quiet.
    func say(_ text: StyledText) {
        for line in text.wrapped(to: messages.width() ?? .max / 2) {
            streams.writeError(line.rendered(level: level, theme: colors.theme))
        }
    }

    /// Gives the terminal to a question.
    func aroundQuestion<Result>(_ body: () async throws -> Result) async throws -> Result {
        finish()
        // The query for the terminal's colours must finish before the person is asked.
        if level != .none { _ = colors.theme }
        colors.settle()
        guard let progressLine else { return try await body() }
        guard let liveBlock else { return try await progressLine.around(body) }
        return try await liveBlock.around { try await progressLine.around(body) }
    }

    private func around<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard let progressLine else { return try body() }
        return try progressLine.around(body)
    }
}
