import Capabilities
import TerminalKit

/// The terminal and what it shows.
struct ShellScreen: Sendable {
    let terminal: FullScreenTerminal
    private var painter: Painter
    /// Whether the terminal is known to show progress. Others show the sequence as a message.
    private let showsProgress: Bool
    private var title = ""
    private var isBusy = false
    /// Whether a picture is shown in the place of the shell.
    private var isCovered = false

    init(terminal: FullScreenTerminal, painter: Painter, environment: [String: String]) {
        self.terminal = terminal
        self.painter = painter
        showsProgress =
            environment["WT_SESSION"] != nil || environment["TERM_PROGRAM"] == "ghostty"
    }

    /// Tells the window what is shown, and whether something runs.
    mutating func say(title: String, isBusy: Bool) {
        if title != self.title {
            // Terminals show titles elsewhere, where what is not seen may do harm.
            let text = PlainText.escape(title, limit: 200)
            if terminal.offer(frame: Array("\u{1B}]2;\(text)\u{1B}\\".utf8)) == .written { self.title = title }
        }
        if showsProgress, isBusy != self.isBusy {
            if terminal.show(isBusy ? .indeterminate : .none) == .written { self.isBusy = isBusy }
        }
    }

    /// Asks what is behind the text, whether frames can be shown as a whole, and to be told when the person changes to a
    /// dark or a light theme. Nobody waits for the answers.
    private func ask() {
        terminal.ask(Array("\u{1B}]11;?\u{1B}\\\u{1B}[?2031h\u{1B}[?2026$p\u{1B}[?u\u{1B}[c".utf8))
    }

    mutating func take(_ reply: TerminalReply) {
        switch reply {
        case .mode(2026, let value): painter.isSynchronized = value == 1 || value == 2
        case .attributes: terminal.repliesHaveCome()
        case .color(.background, let color): use(TerminalBackground(color))
        case .theme(let background): use(background)
        default: break
        }
    }

    private mutating func use(_ background: TerminalBackground) {
        if let theme = Theme.chosen?(on: background) { painter.theme = theme }
    }

    /// Paints what has changed. If the terminal does not take it, all of it is painted later.
    mutating func paint(_ model: inout ShellModel) {
        if isCovered { return }
        let (cells, caret) = model.draw()
        let before = painter
        let frame = painter.frame(showing: cells, caret: caret)
        guard !frame.isEmpty else { return }
        switch terminal.offer(frame: frame.bytes) {
        case .written, .waiting: break
        case .refused, .hidden: painter = before
        }
    }

    /// Shows a picture instead of the shell.
    mutating func cover(with picture: TerminalPicture, caption: String) {
        isCovered = true
        terminal.offer(frame: picture.frame(in: terminal.size, caption: caption), replacesWaiting: true)
    }

    /// Removes the picture; the shell is painted again.
    mutating func uncover() {
        isCovered = false
        terminal.offer(frame: TerminalPicture.removal, replacesWaiting: true)
        painter.invalidate()
    }

    mutating func repaint() { painter.invalidate() }

    /// Begins on a screen that is empty and has forgotten what it was told.
    mutating func begin() {
        painter.invalidate()
        (title, isBusy) = ("", false)
        ask()
    }

    func ring() { terminal.offer(frame: [0x07]) }
}
