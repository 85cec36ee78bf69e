/// A text of any number of lines that is being written on a screen, with the keys of a ``Composer``.
///
/// It knows keys and rows but no terminal, so that a screen can draw it beside other things:
///
///     var field = ComposerField(history: said)
///     if field.receive(event) == .submitted { send(field.text) }
///     let shown = field.rows(prompt: "› ", columns: 80, rows: 6)
public struct ComposerField: Sendable {
    /// What a key did besides editing.
    public enum Step: Sendable, Hashable {
        /// The text goes on.
        case unfinished
        /// The text is complete.
        case submitted
        /// Ctrl-D in an empty text, and a second Ctrl-C.
        case ended, interrupted
        /// The screen is to be drawn again, and the job is to be stopped.
        case cleared, suspended
    }

    private var editor: ComposerEditor
    private var history: [String]
    private let completions: [String]

    /// - Parameters:
    ///   - history: earlier texts, oldest first.
    ///   - completions: whole words beginning with `/`.
    public init(_ text: String = "", history: [String] = [], completions: [String] = []) {
        self.history = history
        self.completions = completions
        editor = ComposerEditor(history: history, completions: completions)
        if !text.isEmpty { editor.insert(text) }
    }

    /// What was written so far.
    public var text: String { editor.text }

    /// The text as it is seen: a folded one, such as a long paste, is one character in it.
    public var seen: String { editor.edited.seen }

    /// What was written before the cursor, and after it. A folded text, such as a long paste, is one character in them.
    public var aroundCursor: (before: String, after: String) {
        let edited = editor.edited
        return (String(edited.characters[..<edited.cursor]), String(edited.characters[edited.cursor...]))
    }

    /// Takes an event. Those that are not about the text change nothing.
    public mutating func receive(_ event: InputEvent) -> Step {
        for key in ComposerKey.keys(of: event) {
            switch editor.receive(key) {
            case .unfinished: continue
            case .cleared: return .cleared
            case .suspended: return .suspended
            case .submitted: return .submitted
            case .ended: return .ended
            case .interrupted: return .interrupted
            }
        }
        return .unfinished
    }

    /// Begins with another text. The text so far joins the history if it was submitted.
    public mutating func begin(_ text: String = "", keeping submitted: Bool = false) {
        if submitted, !editor.text.isEmpty { history.append(editor.text) }
        editor = ComposerEditor(history: history, completions: completions)
        if !text.isEmpty { editor.insert(text) }
    }

    /// Inserts a text at the cursor.
    public mutating func insert(_ text: String) { editor.insert(text) }

    /// Puts a text in the place of the last characters before the cursor, as when a word is completed.
    public mutating func replace(last count: Int, with text: String) { editor.replace(last: count, with: text) }

    /// At most as many rows as there is room for, none wider than `columns` less one for the cursor, and the place of
    /// the cursor among them.
    public func rows(prompt: StyledText, columns: Int, rows: Int) -> (rows: [StyledText], caret: CellPosition) {
        let frame = ComposerFrame(editor, prompt: prompt, size: TerminalSize(columns: columns, rows: max(1, rows)))
        return (frame.rows, CellPosition(row: frame.cursor.row, column: frame.cursor.column))
    }
}
