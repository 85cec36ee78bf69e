@testable import TerminalKit

/// The keys in a terminal's input.
func keys(_ typed: String) -> [ComposerKey] { keys(Array(typed.utf8)) }

func keys(_ bytes: [UInt8]) -> [ComposerKey] {
    var decoder = KeyDecoder()
    return bytes.flatMap { decoder.receive($0) }
}

/// An editor after some typing, with the last step.
func typed(
    _ text: String, history: [String] = [], completions: [String] = []
) -> (editor: ComposerEditor, step: ComposerEditor.Step) {
    var editor = ComposerEditor(history: history, completions: completions)
    var step = ComposerEditor.Step.unfinished
    for key in keys(text) { step = editor.receive(key) }
    return (editor, step)
}

extension ComposerEditor {
    /// The text with a bar where the cursor is.
    var marked: String {
        String(edited.characters[..<edited.cursor]) + "|" + String(edited.characters[edited.cursor...])
    }
}
