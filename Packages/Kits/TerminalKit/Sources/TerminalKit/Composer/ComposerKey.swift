/// A key or an action of the user at the keyboard.
enum ComposerKey: Equatable, Sendable {
    /// A character, or a part of one.
    case text(Unicode.Scalar)
    /// A pasted text, with line feeds between its lines and no control characters.
    case paste(String)
    /// The same, but its end is missing.
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

extension ComposerKey {
    /// What an event means to the composer: nothing if it is not about the text, and several keys for Escape before a
    /// control key, and for a text.
    static func keys(of event: InputEvent) -> [ComposerKey] {
        switch event {
        case .key(let press): keys(of: press)
        case .text(let text): text.unicodeScalars.map { .text($0) }
        case .paste(let paste): [paste.isCut ? .cutPaste(paste.text) : .paste(paste.text)]
        case .mouse, .focus, .reply: []
        }
    }

    private static func keys(of press: KeyPress) -> [ComposerKey] {
        if let scalar = press.text { return [.text(scalar)] }
        switch (press.key, press.modifiers) {
        case (.character(let scalar), .ctrl): return controls[scalar].map { [$0] } ?? []
        case (.character(let scalar), .alt): return words[scalar].map { [$0] } ?? []
        case (.character("j"), [.alt, .ctrl]): return [.newLine]
        // Ctrl-C and similar keys work even after a lone Escape.
        case (.character(let scalar), [.alt, .ctrl]): return [.escape] + (controls[scalar].map { [$0] } ?? [])
        case (.tab, .alt): return [.escape, .complete]
        default: return named(press).map { [$0] } ?? []
        }
    }

    private static func named(_ press: KeyPress) -> ComposerKey? {
        let isByWord = !press.modifiers.isDisjoint(with: [.alt, .ctrl])
        return switch press.key {
        case .enter: press.modifiers.isEmpty ? .submit : .newLine
        case .tab: press.modifiers.isEmpty ? .complete : nil
        case .escape: .escape
        case .up: .up
        case .down: .down
        case .left: isByWord ? .wordLeft : .left
        case .right: isByWord ? .wordRight : .right
        case .home: .lineStart
        case .end: .lineEnd
        case .delete: isByWord ? .deleteWordForward : .deleteForward
        case .backspace: press.modifiers.contains(.alt) ? .deleteWordBackward : .deleteBackward
        case .character, .pageUp, .pageDown, .insert, .menu, .function: nil
        }
    }

    /// The keys with Alt.
    private static let words: [Unicode.Scalar: ComposerKey] = [
        "b": .wordLeft, "B": .wordLeft, "f": .wordRight, "F": .wordRight, "d": .deleteWordForward,
        "D": .deleteWordForward,
    ]

    /// The keys with Ctrl. Some terminals tell Ctrl-H, Ctrl-I and Ctrl-M from the keys that send the same byte.
    private static let controls: [Unicode.Scalar: ComposerKey] = [
        "a": .lineStart, "b": .left, "c": .interrupt, "d": .end, "e": .lineEnd, "f": .right, "g": .abandon,
        "h": .deleteBackward, "i": .complete, "j": .newLine, "k": .deleteToLineEnd, "l": .clearScreen, "m": .submit,
        "n": .down, "p": .up, "r": .search, "u": .deleteToLineStart, "w": .deleteSpacedWordBackward, "y": .yank,
        "z": .suspend,
    ]
}
