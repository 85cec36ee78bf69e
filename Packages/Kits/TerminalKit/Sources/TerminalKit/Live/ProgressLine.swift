import Capabilities
import Synchronization

/// A line at the bottom of a terminal that shows progress and leaves no trace.
///
/// If the descriptor is not a terminal, only messages are written. The owner runs ``run()`` in parallel to the work, so
/// that spinner and time keep going, and calls ``finish()`` at the end.
///
///     let progress = ProgressLine(level: .ansi256)
///     progress.update("downloading model.gguf", fraction: 0.4)
///     progress.around { print("one result") }
///     progress.finish()
public final class ProgressLine: Sendable {
    private let terminal: Terminal
    private let isVisible: Bool
    private let level: ColorLevel
    /// Called when something is drawn, because finding the theme may take a moment.
    private let theme: @Sendable () -> Theme
    private let elapsed: @Sendable () -> Duration
    private let pause: @Sendable (Duration) async throws -> Void
    private let state: Mutex<State>

    private struct State {
        var rows: LiveRows
        var frame = ProgressFrame()
        var isFinished = false
        var suspensions = 0
        /// When the line first showed something, from which its time counts.
        var begun = Duration.zero
        var lastDrawn: Duration?
    }

    /// At most thirty drawings a second: more cannot be seen and would flood a slow connection.
    private static let shortestInterval = Duration.nanoseconds(33_333_334)

    /// A line on `fileDescriptor`, empty until the first update.
    public init<C: Clock>(
        fileDescriptor: Int32 = 2, level: ColorLevel, theme: @escaping @Sendable @autoclosure () -> Theme = .dark,
        clock: C = ContinuousClock()
    ) where C.Duration == Duration {
        terminal = Terminal(fileDescriptor: fileDescriptor)
        isVisible = terminal.isTerminal
        self.level = level
        self.theme = theme
        // The theme is set before each drawing.
        state = Mutex(State(rows: LiveRows(level: level, theme: .dark)))
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        pause = { try await clock.sleep(for: $0) }
    }

    /// Changes the text of the line. With a fraction it shows a bar, otherwise a spinner.
    ///
    /// Its time counts from the first update, or the first one after ``retire()``.
    public func update(_ text: StyledText, fraction: Double? = nil) {
        guard isVisible else { return }
        state.withLock {
            if $0.frame.isEmpty { $0.begun = elapsed() }
            $0.frame.text = text.singleLine
            $0.frame.fraction = fraction
            terminal.write(drawing(&$0))
        }
    }

    /// Keeps spinner and time going until the surrounding task is cancelled.
    public func run() async {
        guard isVisible else { return }
        while true {
            // Sleeping throws only when cancelled, which is how this ends.
            do { try await pause(.milliseconds(100)) } catch { return }
            state.withLock { terminal.write(drawing(&$0)) }
        }
    }

    /// Writes a separate line above the progress line.
    public func message(_ text: StyledText) {
        state.withLock {
            let line = text.rendered(level: level, theme: theme()) + "\n"
            terminal.write(erasure(&$0) + line + drawing(&$0))
        }
    }

    /// Removes the line, runs `body`, which may write to the same terminal, and draws the line again.
    ///
    /// Within a thirtieth of a second after the last drawing, the next update or tick draws it.
    public func around<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        suspend()
        defer { resume() }
        return try body()
    }

    /// The same for a body that waits, such as a question to the user.
    public nonisolated(nonsending) func around<Result, Failure: Error>(
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        suspend()
        defer { resume() }
        return try await body()
    }

    /// Removes the line until the next update, which counts its time again from zero.
    public func retire() {
        state.withLock {
            terminal.write(erasure(&$0))
            $0.frame = ProgressFrame()
        }
    }

    /// Removes the line permanently; later updates draw nothing.
    public func finish() {
        state.withLock {
            terminal.write(erasure(&$0))
            $0.isFinished = true
        }
    }

    private func suspend() {
        state.withLock {
            terminal.write(erasure(&$0))
            $0.suspensions += 1
        }
    }

    private func resume() {
        state.withLock {
            $0.suspensions -= 1
            terminal.write(drawing(&$0))
        }
    }

    /// Removes the line. What others write next is not known, so the next line begins anew.
    private func erasure(_ state: inout State) -> String {
        defer { state.rows = LiveRows(level: level, theme: state.rows.theme) }
        return state.rows.update([], columns: terminal.size().columns)
    }

    private func drawing(_ state: inout State) -> String {
        guard isVisible, !state.isFinished, state.suspensions == 0, !state.frame.isEmpty else { return "" }
        let now = elapsed()
        if let last = state.lastDrawn, now - last < Self.shortestInterval { return "" }
        state.lastDrawn = now
        state.rows.theme = theme()
        let columns = terminal.size().columns
        // The last column stays free, because a full line makes some terminals wrap.
        let line = state.frame.line(elapsed: now - state.begun, width: columns - 1)
        return state.rows.update([line], columns: columns)
    }
}

/// The content of a progress line at one moment.
struct ProgressFrame: Sendable {
    var text = StyledText()
    var fraction: Double?

    /// Whether there is no text yet.
    var isEmpty: Bool { text.isEmpty && fraction == nil }

    private static let spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
    private static let barWidth = 20

    /// One line of at most `width` columns; the text is shortened first.
    func line(elapsed: Duration, width: Int) -> StyledText {
        var line = gauge(elapsed: elapsed, isWide: width >= 50)
        let time = StyledText(" " + Self.clock(elapsed), Style(.mutedForeground))
        let room = width - line.width - time.width - 1
        if !text.isEmpty && room > 0 { line = line + " " + text.truncated(to: room) }
        line.append(time)
        return line.truncated(to: width)
    }

    private func gauge(elapsed: Duration, isWide: Bool) -> StyledText {
        guard let fraction else {
            let step = Int(elapsed / .milliseconds(100)) % Self.spinner.count
            return StyledText(Self.spinner[step], Style(.ring))
        }
        let share = fraction.isNaN ? 0 : min(1, max(0, fraction))
        let percent = TextWidth.pad("\(Int(share * 100))%", to: 4, alignment: .trailing)
        guard isWide else { return StyledText(percent, Style(.ring)) }
        let filled = Int(share * Double(Self.barWidth))
        return StyledText(String(repeating: "━", count: filled), Style(.ring))
            + StyledText(String(repeating: "─", count: Self.barWidth - filled), Style(.border))
            + StyledText(percent, Style(.ring))
    }

    /// `7s`, `1m07s`, `2h01m`.
    private static func clock(_ elapsed: Duration) -> String {
        let seconds = Int(max(0, elapsed.components.seconds))
        func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        if seconds < 60 { return "\(seconds)s" }
        if seconds < 3600 { return "\(seconds / 60)m\(twoDigits(seconds % 60))s" }
        return "\(seconds / 3600)h\(twoDigits(seconds / 60 % 60))m"
    }
}
