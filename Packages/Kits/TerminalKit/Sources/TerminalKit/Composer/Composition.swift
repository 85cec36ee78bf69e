/// One text that is composed, on a thread that may block.
struct Composition: Sendable {
    let prompt: StyledText
    let history: [String]
    let completions: [String]
    let level: ColorLevel
    let theme: Theme

    func ask(on device: borrowing TerminalDevice) throws(TerminalError) -> String? {
        var editor = ComposerEditor(history: history, completions: completions)
        var rows = LiveRows(level: level, theme: theme)
        do throws(TerminalError) {
            let text = try converse(on: device, &editor, &rows)
            // The end of the input may be the end of the terminal.
            guard let text else {
                device.writeOnce(leaving(device.size, editor, &rows))
                return nil
            }
            try device.write(leaving(device.size, editor, &rows))
            return text
        } catch {
            device.writeOnce(leaving(device.size, editor, &rows))
            throw error
        }
    }

    private func converse(
        on device: borrowing TerminalDevice, _ editor: inout ComposerEditor, _ rows: inout LiveRows
    ) throws(TerminalError) -> String? {
        var decoder = KeyDecoder()
        var ahead = device.typedAhead
        try draw(on: device, editor, &rows)
        while true {
            var keys: [ComposerKey] = []
            switch try device.read(limit: decoder.patience ?? -1) {
            case .byte(let byte):
                keys = decoder.receive(ahead > 0 ? Self.key(typedAhead: byte) : byte)
                ahead -= 1
            case .quiet: keys = decoder.stopWaiting()
            case .resized: break
            // Others wrote since, so that nothing of what was drawn can be relied on.
            case .continued: rows = LiveRows(level: level, theme: theme)
            case .end: return nil
            }
            var isSuspended = false
            for key in keys {
                switch editor.receive(key) {
                case .unfinished: break
                case .cleared: try device.write(rows.clearScreen())
                case .suspended:
                    try device.write(leaving(device.size, editor, &rows))
                    device.suspend()
                    isSuspended = true
                case .submitted: return editor.text
                case .ended: return nil
                case .interrupted: throw TerminalError(.interrupted, "interrupted at the prompt")
                }
            }
            // A pasted text is drawn once, not once for each of its characters.
            // While it is stopped nothing is drawn; that it goes on is told.
            if !device.hasInput, !isSuspended { try draw(on: device, editor, &rows) }
        }
    }

    /// As long as the terminal edited lines itself, it kept Return as Ctrl-J, and Ctrl-D as a zero.
    private static func key(typedAhead byte: UInt8) -> UInt8 {
        switch byte {
        case 0x0A: 0x0D
        case 0x00: 0x04
        default: byte
        }
    }

    /// Draws until the window kept its size meanwhile.
    private func draw(
        on device: borrowing TerminalDevice, _ editor: ComposerEditor, _ rows: inout LiveRows
    ) throws(TerminalError) {
        var size: TerminalSize
        repeat {
            size = device.size
            let frame = ComposerFrame(editor, prompt: prompt, size: size)
            let output = rows.update(frame.rows, cursor: frame.cursor, columns: size.columns)
            if !output.isEmpty { try device.write(output) }
        } while device.size != size
    }

    /// The whole text without menus, and the cursor below it.
    private func leaving(_ size: TerminalSize, _ editor: ComposerEditor, _ rows: inout LiveRows) -> String {
        let frame = ComposerFrame(editor.atRest, prompt: prompt, size: TerminalSize(columns: size.columns, rows: .max))
        return rows.finish(frame.rows, columns: size.columns)
    }
}
