/// One prompt and its answer, on a thread that may block.
struct Question: Sendable {
    let prompt: StyledText
    let isSecret: Bool
    let level: ColorLevel
    let theme: Theme

    func ask(on device: borrowing TerminalDevice) throws(TerminalError) -> [UInt8]? {
        var editor = LineEditor(isSecret: isSecret)
        defer { device.endLine() }
        do throws(TerminalError) {
            if try converse(on: device, &editor) { return editor.bytes }
        } catch {
            editor.wipe()
            throw error
        }
        editor.wipe()
        return nil
    }

    /// Whether there is an answer; false when the input ended without one.
    private func converse(
        on device: borrowing TerminalDevice, _ editor: inout LineEditor
    ) throws(TerminalError) -> Bool {
        try device.write(introduction(columns: device.columns) + display(editor, columns: device.columns))
        while true {
            let step: LineEditor.Step
            var needsDrawing = false
            switch try device.read() {
            case .byte(let byte): step = editor.receive(byte)
            case .continued: (step, needsDrawing) = (.unfinished, true)
            case .end, .resized, .quiet: return false
            }
            // A pasted text is drawn once, not once for each of its characters.
            if needsDrawing || !isSecret && (step != .unfinished || !device.hasInput) {
                try device.write(display(editor, columns: device.columns))
            }
            switch step {
            case .unfinished: break
            case .suspended:
                device.endLine()
                device.suspend()
            case .finished: return true
            case .end: return false
            case .interrupted: throw TerminalError(.interrupted, "interrupted at the prompt")
            case .tooLong:
                throw TerminalError(
                    .tooLong, "the line is longer than \(LineEditor.limit) bytes; give the value by a file")
            }
        }
    }

    /// The rows of a prompt that one row has no room for, without the last: nobody agrees to what was cut off.
    func introduction(columns: Int) -> String {
        rows(columns).dropLast().map { "\r" + $0.rendered(level: level, theme: theme) + "\u{1B}[K\r\n" }.joined()
    }

    /// The last row of the prompt and the end of what was typed, on one row whatever its length.
    func display(_ editor: LineEditor, columns: Int) -> String {
        // The window may have become narrower since.
        let prompt = (rows(columns).last ?? StyledText()).truncated(to: max(1, columns - 11))
        let typed = isSecret ? "" : editor.visibleTail(width: max(1, columns - 1 - prompt.width))
        return "\r" + prompt.rendered(level: level, theme: theme) + typed + "\u{1B}[K"
    }

    /// The prompt in rows that leave room for an answer.
    private func rows(_ columns: Int) -> [StyledText] {
        let prompt = prompt.singleLine
        let room = max(1, columns - 11)
        guard prompt.width > room else { return [prompt] }
        var rows = prompt.wrapped(to: room)
        // Wrapping takes the space that sets the answer apart.
        if prompt.plainText.hasSuffix(" "), let last = rows.last, !last.plainText.hasSuffix(" ") {
            rows[rows.count - 1] = last + StyledText(" ")
        }
        return rows
    }
}
