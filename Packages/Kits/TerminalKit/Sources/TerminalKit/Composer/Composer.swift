/// Lets a person compose a text of any number of lines at the terminal.
///
///     let composer = Composer(level: level)
///     while let text = try await composer.read(prompt: "you › ", history: said) { answer(text) }
///
/// Return submits. Alt-Return, Ctrl-J, or Return after a backslash begins another line, and a paste never submits.
/// Up and Down reach the history, Ctrl-R searches it, Tab completes words that begin with `/`; Ctrl-A, E, K, U, W, Y
/// and the word keys edit as in a shell. The terminal is put back on every way out, as by ``TerminalInput``.
public struct Composer: Sendable {
    /// The bytes that one text may have at most.
    public static let limit = 262_144

    private let path: String
    private let level: ColorLevel
    private let theme: Theme
    private let isDumb: Bool

    /// A composer on the terminal at `path`, the controlling one unless said.
    ///
    /// A dumb terminal understands no escape sequence, so there the terminal itself edits, line by line.
    public init(
        path: String = "/dev/tty", level: ColorLevel = .none, theme: Theme = .dark, isDumb: Bool = false
    ) {
        self.path = path
        self.level = level
        self.theme = theme
        self.isDumb = isDumb
    }

    /// Reads a text; nothing when the person ended the input (Ctrl-D while there is no text).
    ///
    /// Nothing in it commands a terminal: what would, and was pasted, is replaced as ``Sanitizer`` does. Throws
    /// `interrupted` on a second Ctrl-C, the first of which clears the text, and `cancelled` as soon as the surrounding
    /// task is.
    ///
    /// - Parameters:
    ///   - history: what was composed before, the oldest first.
    ///   - completions: whole words beginning with `/`.
    public func read(
        prompt: StyledText, history: [String] = [], completions: [String] = []
    ) async throws(TerminalError) -> String? {
        let level = level
        let theme = theme
        if isDumb {
            let composition = PlainComposition(prompt: prompt)
            return try await TerminalDevice.with(path: path, mode: .untouched) {
                device throws(TerminalError) in try composition.ask(on: device)
            }
        }
        let composition = Composition(
            prompt: prompt, history: history, completions: completions, level: level, theme: theme)
        return try await TerminalDevice.with(path: path, mode: .keys) {
            device throws(TerminalError) in try composition.ask(on: device)
        }
    }
}
