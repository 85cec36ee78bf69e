/// Lets the user compose a text of any number of lines at the terminal.
///
///     let composer = Composer(level: level)
///     while let text = try await composer.read(prompt: "you › ", history: said) { answer(text) }
///
/// Return submits. Alt-Return, Ctrl-J, or Return after a backslash starts a new line, and a paste never submits. Up and
/// Down step through the history, Ctrl-R searches it, Tab completes words that begin with `/` or `@`; Ctrl-A, E, K, U, W, Y
/// and the word keys edit as in a shell. The terminal is restored in every case, as by ``TerminalInput``.
public struct Composer: Sendable {
    /// The maximum number of bytes of a text.
    public static let limit = 262_144

    private let path: String
    private let level: ColorLevel
    private let theme: Theme
    private let isDumb: Bool

    /// A composer on the terminal at `path`, by default the controlling one.
    ///
    /// A dumb terminal understands no escape sequences, so the terminal itself edits there, line by line.
    public init(
        path: String = "/dev/tty", level: ColorLevel = .none, theme: Theme = .dark, isDumb: Bool = false
    ) {
        self.path = path
        self.level = level
        self.theme = theme
        self.isDumb = isDumb
    }

    /// Reads a text; nil if the user ended the input (Ctrl-D in an empty text).
    ///
    /// The text cannot control a terminal: harmful characters of a paste are replaced as by ``Sanitizer``. Throws
    /// `interrupted` on a second Ctrl-C, the first of which clears the text, and `cancelled` as soon as the surrounding
    /// task is cancelled.
    ///
    /// - Parameters:
    ///   - history: earlier texts, oldest first.
    ///   - completions: whole words beginning with `/` or `@`.
    public func read(
        prompt: StyledText, history: [String] = [], completions: [String] = []
    ) async throws(TerminalError) -> String? {
        try await readSeen(prompt: prompt, history: history, completions: completions)?.text
    }

    /// The same, with the text as the user saw it: a long paste is one character in it.
    public func readSeen(
        prompt: StyledText, history: [String] = [], completions: [String] = []
    ) async throws(TerminalError) -> (text: String, seen: String)? {
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

/// Composes one text, on a thread that may block.
struct Composition: Sendable {
    let prompt: StyledText
    let history: [String]
    let completions: [String]
    let level: ColorLevel
    let theme: Theme

    func ask(on device: borrowing TerminalDevice) throws(TerminalError) -> (text: String, seen: String)? {
        var editor = ComposerEditor(history: history, completions: completions)
        var rows = LiveRows(level: level, theme: theme)
        do throws(TerminalError) {
            let isSubmitted = try converse(on: device, &editor, &rows)
            // The end of the input may be the end of the terminal.
            guard isSubmitted else {
                device.writeOnce(leaving(device.size, editor, &rows))
                return nil
            }
            try device.write(leaving(device.size, editor, &rows))
            return (editor.text, editor.edited.seen)
        } catch {
            device.writeOnce(leaving(device.size, editor, &rows))
            throw error
        }
    }

    /// False if the user ended the input.
    private func converse(
        on device: borrowing TerminalDevice, _ editor: inout ComposerEditor, _ rows: inout LiveRows
    ) throws(TerminalError) -> Bool {
        var decoder = InputDecoder(erase: device.eraseByte, pasteLimit: Self.pasteLimit)
        var ahead = device.typedAhead
        var unread: ArraySlice<UInt8> = []
        defer { TerminalDevice.keep(Array(unread)) }
        try draw(on: device, editor, &rows)
        while true {
            var events: [InputEvent] = []
            let start = ContinuousClock.now
            switch try device.read(within: decoder.patience) {
            case .byte(let byte):
                decoder.wait(ContinuousClock.now - start)
                // The end of a paste is easier to find if all of it is there. Other input is taken byte by byte, so
                // that what follows a text stays with the terminal.
                unread = [byte] + (decoder.isPasting ? device.readAvailable() : [])
                let old = unread.prefix(ahead)
                unread.replaceSubrange(..<old.endIndex, with: old.map(Self.key(typedAhead:)))
                ahead -= old.count
            case .quiet: events = decoder.stopWaiting()
            case .resized: break
            // Others have written since, so nothing that was drawn can be relied on.
            case .continued: rows = LiveRows(level: level, theme: theme)
            case .end: return false
            }
            var isSuspended = false
            repeat {
                events += decoder.next(in: &unread)
                for key in events.flatMap(ComposerKey.keys(of:)) {
                    switch editor.receive(key) {
                    case .unfinished: break
                    case .cleared: try device.write(rows.clearScreen())
                    case .suspended:
                        try device.write(leaving(device.size, editor, &rows))
                        device.suspend()
                        isSuspended = true
                    case .submitted: return true
                    case .ended: return false
                    case .interrupted: throw TerminalError(.interrupted, "interrupted at the prompt")
                    }
                }
                events = []
            } while !unread.isEmpty
            // A paste is drawn once, not once for each of its characters. While the job is stopped nothing is drawn;
            // its continuation is reported.
            if !device.hasInput, !isSuspended { try draw(on: device, editor, &rows) }
        }
    }

    /// A longer paste is refused, so no more of it is kept than is needed to know that.
    static let pasteLimit = 2 * Composer.limit

    /// While the terminal edited lines itself, it delivered Return as Ctrl-J, and Ctrl-D as a zero.
    private static func key(typedAhead byte: UInt8) -> UInt8 {
        switch byte {
        case 0x0A: 0x0D
        case 0x00: 0x04
        default: byte
        }
    }

    /// Draws until the size of the window stays the same.
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

/// A text from a terminal without escape sequences: the terminal edits each line, and a backslash at the end requests
/// another one.
struct PlainComposition: Sendable {
    let prompt: StyledText

    func ask(on device: borrowing TerminalDevice) throws(TerminalError) -> (text: String, seen: String)? {
        var bytes: [UInt8] = []
        try device.write(prompt.singleLine.plainText)
        while true {
            switch try device.read() {
            case .byte(0x0A):
                guard bytes.last == UInt8(ascii: "\\") else { return written(bytes) }
                bytes[bytes.count - 1] = 0x0A
                try device.write("… ")
            case .byte(let byte):
                bytes.append(byte)
                guard bytes.count <= Composer.limit else {
                    throw TerminalError(
                        .tooLong, "the text is longer than \(Composer.limit) bytes; pass it as a file")
                }
            case .end: return bytes.isEmpty ? nil : written(bytes)
            case .resized, .continued, .quiet: break
            }
        }
    }

    /// The terminal shows every line that it gets.
    private func written(_ bytes: [UInt8]) -> (text: String, seen: String) {
        let text = Sanitizer.sanitize(String(decoding: bytes, as: UTF8.self))
        return (text, text)
    }
}
