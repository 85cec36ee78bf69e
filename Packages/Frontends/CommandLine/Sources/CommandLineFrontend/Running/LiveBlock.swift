import Screens
import Synchronization
import TerminalForms
import TerminalKit

/// The block that an action shows of its work, drawn again in place at the end of the messages.
final class LiveBlock: Sendable {
    private struct State {
        /// The lines on the screen; nil if there are none.
        var lines: LiveLines?
        var block: Block?
        /// Whether a question has the terminal.
        var isPaused = false
    }

    private let terminal: Terminal
    private let level: ColorLevel
    /// Called with the first block, because finding the theme may take a moment.
    private let theme: @Sendable () -> Theme
    private let state = Mutex(State())

    init(_ terminal: Terminal, level: ColorLevel, theme: @escaping @Sendable () -> Theme) {
        self.terminal = terminal
        self.level = level
        self.theme = theme
    }

    /// Whether a block is on the screen.
    var isShown: Bool { state.withLock { $0.lines != nil } }

    /// Shows a block in place of the one before.
    func show(_ block: Block) {
        let theme = theme()
        state.withLock { state in
            state.block = block
            if !state.isPaused { draw(&state, theme) }
        }
    }

    /// Shows lines above the block; false if there is none.
    func say(_ lines: [StyledText]) -> Bool {
        state.withLock { state in
            guard let block = state.block, var drawn = state.lines else { return false }
            let size = terminal.size()
            terminal.write(drawn.show(self.lines(of: block, size), above: lines, size: size))
            state.lines = drawn
            return true
        }
    }

    /// Leaves the block on the screen as it is. The next one begins below it.
    func settle() {
        state.withLock { state in
            guard let block = state.block, var lines = state.lines else { return }
            let size = terminal.size()
            terminal.write(lines.finish(self.lines(of: block, size), size: size))
            (state.lines, state.block) = (nil, nil)
        }
    }

    /// Draws nothing while a question has the terminal.
    func around<Result>(_ body: () async throws -> Result) async throws -> Result {
        settle()
        state.withLock { $0.isPaused = true }
        defer {
            let theme = theme()
            state.withLock { state in
                state.isPaused = false
                if state.block != nil { draw(&state, theme) }
            }
        }
        return try await body()
    }

    private func draw(_ state: inout State, _ theme: Theme) {
        guard let block = state.block else { return }
        let size = terminal.size()
        var lines = state.lines ?? LiveLines(level: level, theme: theme)
        terminal.write(lines.show(self.lines(of: block, size), size: size))
        state.lines = lines
    }

    private func lines(of block: Block, _ size: TerminalSize) -> [StyledText] {
        TextForm(level: level, width: max(1, size.columns - 1)).lines(block, rows: LiveLines.room(size))
    }
}
