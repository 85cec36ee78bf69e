@testable import TerminalKit

/// The keys in a terminal's input.
func keys(_ typed: String) -> [ComposerKey] { keys(Array(typed.utf8)) }

func keys(_ bytes: [UInt8]) -> [ComposerKey] {
    var decoder = InputDecoder(pasteLimit: Composition.pasteLimit)
    // What ends a paste waits for what follows.
    return (decoder.receive(bytes) + (decoder.isPasting ? decoder.stopWaiting() : [])).flatMap(ComposerKey.keys(of:))
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

/// The decoder of a composer with its table of keys.
struct ComposerInput {
    private var decoder = InputDecoder(pasteLimit: Composition.pasteLimit)

    var patience: Duration? { decoder.patience }
    mutating func receive(_ byte: UInt8) -> [ComposerKey] { decoder.receive(byte).flatMap(ComposerKey.keys(of:)) }
    mutating func stopWaiting() -> [ComposerKey] { decoder.stopWaiting().flatMap(ComposerKey.keys(of:)) }
}
