@testable import TerminalKit

/// Input as it is written in tables: `\e` is Escape, `\xHH` a byte, `\\` a backslash, and `\.` the end of the
/// patience.
struct InputScript {
    /// The bytes between the ends of the patience.
    let parts: [[UInt8]]
    let stopsAtEnd: Bool

    init(_ text: String) {
        var parts: [[UInt8]] = [[]]
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            var bytes = Array(String(Character(scalar)).utf8)
            if scalar == "\\" {
                switch rest.popFirst() {
                case "e": bytes = [0x1B]
                case "r": bytes = [0x0D]
                case "n": bytes = [0x0A]
                case "t": bytes = [0x09]
                case "x":
                    bytes = [UInt8(String(String.UnicodeScalarView(rest.prefix(2))), radix: 16) ?? 0]
                    rest = rest.dropFirst(2)
                case ".":
                    parts.append([])
                    continue
                default: bytes = [UInt8(ascii: "\\")]
                }
            }
            parts[parts.count - 1] += bytes
        }
        stopsAtEnd = parts.count > 1
        self.parts = parts
    }

    /// The events of all, where each part is given to the decoder in the pieces that `cut` makes of it.
    func events(
        of decoder: InputDecoder = InputDecoder(), cut: ([UInt8]) -> [ArraySlice<UInt8>] = { [$0[...]] }
    ) -> [InputEvent] {
        var decoder = decoder
        var events: [InputEvent] = []
        for (index, part) in parts.enumerated() {
            if index > 0 { events += decoder.stopWaiting() }
            for piece in cut(part) { events += decoder.receive(piece) }
        }
        return events
    }
}

/// Events in the words of the tables.
func describe(_ events: [InputEvent]) -> String { events.map(describe).joined(separator: ", ") }

func describe(_ event: InputEvent) -> String {
    switch event {
    case .key(let press): describe(press)
    case .text(let text): "text \(text.debugDescription)"
    case .mouse(let press): describe(press)
    case .paste(let paste):
        "paste \(paste.text.debugDescription)" + (paste.isCut ? " cut" : "")
            + (paste.omittedBytes > 0 ? " without \(paste.omittedBytes)" : "")
    case .focus(let isFocused): isFocused ? "focus" : "no focus"
    case .reply(let reply): describe(reply)
    }
}

func describe(_ press: KeyPress) -> String {
    let name =
        switch press.key {
        case .character(" "): "Space"
        case .character(let scalar): String(Character(scalar))
        case .function(let number): "F\(number)"
        case .pageUp: "PageUp"
        case .pageDown: "PageDown"
        default: "\(press.key)".capitalized
        }
    return describe(press.modifiers) + name
}

private func describe(_ press: MousePress) -> String {
    let action =
        if case .scroll(let direction) = press.action { "scroll \(direction)" } else {
            "\(press.action) \(press.button)"
        }
    return describe(press.modifiers) + "\(action) at \(press.column);\(press.row)"
}

private func describe(_ modifiers: Modifiers) -> String {
    let names: [(Modifiers, String)] = [
        (.alt, "Alt-"), (.ctrl, "Ctrl-"), (.shift, "Shift-"), (.super, "Super-"), (.hyper, "Hyper-"), (.meta, "Meta-"),
    ]
    return names.map { modifiers.contains($0.0) ? $0.1 : "" }.joined()
}

private func describe(_ reply: TerminalReply) -> String {
    switch reply {
    case .attributes(let numbers): "attributes \(numbers)"
    case .mode(let mode, let value): "mode \(mode) is \(value)"
    case .cursor(let row, let column): "cursor at \(row);\(column)"
    case .keyboardFlags(let flags): "keyboard flags \(flags)"
    case .color(let slot, let color): "color \(slot) \(color.red)/\(color.green)/\(color.blue)"
    case .size(let size, let width, let height): "size \(size.columns)x\(size.rows) \(width)x\(height)"
    case .theme(let theme): "theme \(theme)"
    case .name(let name): "name \(name)"
    case .graphics(let answer): "graphics \(answer)"
    }
}

extension String {
    /// The text with a capital at the beginning.
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
