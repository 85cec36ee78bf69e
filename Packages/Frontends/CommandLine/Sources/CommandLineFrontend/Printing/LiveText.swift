import Synchronization
import TerminalKit

/// The text of events on a terminal: Markdown is drawn while it arrives, other text is printed unchanged.
final class LiveText: Sendable {
    private struct State: ~Copyable {
        /// Made with the first Markdown, because it opens the library that reads it.
        var markdown: LiveMarkdown?
        var sanitizer = StreamSanitizer()
        /// Whether the printed text ends in the middle of a line.
        var isInLine = false
    }

    private let streams: StandardStreams
    private let terminal: Terminal
    private let level: ColorLevel
    private let links: Bool
    /// Called with the first text.
    private let theme: @Sendable () -> Theme
    private let state: Mutex<State>
    private let start = ContinuousClock.now
    /// Yields each time that something waits to be drawn.
    private let behind: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    init(_ streams: StandardStreams, level: ColorLevel, theme: @escaping @Sendable () -> Theme, links: Bool) {
        self.streams = streams
        terminal = Terminal(fileDescriptor: streams.output)
        self.theme = theme
        self.level = level
        self.links = links
        state = Mutex(State())
        (behind, tell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Shows the next piece of a Markdown document. Without the library that draws it, the text is printed as it is.
    func show(markdown text: String) throws(OutputError) {
        guard Markdown.isAvailable else { return try show(plain: text) }
        let theme = theme()
        let isBehind = try state.withLock { state throws(OutputError) in
            try endLine(&state)
            if state.markdown == nil { state.markdown = LiveMarkdown(level: level, links: links) }
            state.markdown?.theme = theme
            try write(state.markdown?.append(text, at: now, size: terminal.size()) ?? "")
            return state.markdown?.isBehind ?? false
        }
        if isBehind { tell.yield() }
    }

    /// Prints plain text.
    func show(plain text: String) throws(OutputError) {
        try state.withLock { state throws(OutputError) in
            try write(state.markdown?.finish(size: terminal.size()) ?? "")
            let clean = String(decoding: state.sanitizer.sanitize(Array(text.utf8)), as: UTF8.self)
            try write(clean)
            if let last = clean.last { state.isInLine = !last.isNewline }
        }
    }

    /// Finishes what is being drawn, so that the next output begins on a new line.
    func settle() throws(OutputError) {
        try state.withLock { state throws(OutputError) in
            try write(state.markdown?.finish(size: terminal.size()) ?? "")
            try endLine(&state)
        }
    }

    /// Finishes what is being drawn and clears the window.
    func clear() throws(OutputError) {
        try settle()
        try streams.write(Terminal.emptyWindow)
    }

    /// Draws pending frames until the surrounding task is cancelled.
    func run() async {
        do {
            for await _ in behind {
                try await Task.sleep(for: LiveMarkdown.shortestInterval)
                try state.withLock { state throws(OutputError) in
                    try write(state.markdown?.draw(at: now, size: terminal.size()) ?? "")
                }
            }
        } catch {
            // Cancelled, or the output is gone; in that case the next event reports the error.
        }
    }

    private var now: Duration { start.duration(to: .now) }

    private func write(_ text: String) throws(OutputError) {
        if !text.isEmpty { try streams.write(text) }
    }

    private func endLine(_ state: inout State) throws(OutputError) {
        let rest = String(decoding: state.sanitizer.finish(), as: UTF8.self)
        guard state.isInLine || !rest.isEmpty else { return }
        state.isInLine = false
        try write(rest + "\n")
    }
}
