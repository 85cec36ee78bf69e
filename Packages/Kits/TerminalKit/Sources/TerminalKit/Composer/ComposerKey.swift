/// What a person did at the keyboard.
enum ComposerKey: Equatable, Sendable {
    /// A character, or a part of one.
    case text(Unicode.Scalar)
    /// A text that was pasted, with line feeds between its lines and nothing that commands a terminal.
    case paste(String)
    /// The same, whose end did not come.
    case cutPaste(String)
    case submit, newLine
    case left, right, up, down
    case wordLeft, wordRight
    case lineStart, lineEnd
    case deleteBackward, deleteForward
    case deleteWordBackward, deleteSpacedWordBackward, deleteWordForward
    case deleteToLineStart, deleteToLineEnd
    case yank
    case complete, search, escape, abandon
    case interrupt, end, clearScreen, suspend
}
