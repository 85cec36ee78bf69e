/// What a person did at the terminal, or what the terminal sent by itself.
public enum InputEvent: Hashable, Sendable {
    /// A key, pressed or repeated. Releases are dropped.
    case key(KeyPress)
    /// What one key of an input method typed: several characters, none of which controls a terminal.
    case text(String)
    /// A button, the wheel or a motion of the mouse.
    case mouse(MousePress)
    /// A text that the terminal marked as pasted.
    case paste(Paste)
    /// Whether the window has the focus. Terminals send only changes.
    case focus(Bool)
    /// An answer or a report of the terminal.
    case reply(TerminalReply)
}

/// Decodes the input of a terminal, however it is cut: keys, the mouse, pastes, and what the terminal answers.
///
///     var decoder = InputDecoder()
///     while let bytes = read(within: decoder.patience) {
///         let events = bytes.isEmpty ? decoder.stopWaiting() : decoder.receive(bytes)
///     }
///
/// It has no clock. An incomplete sequence waits for its end as long as ``patience`` says, and counts as complete after
/// ``stopWaiting()``. Unknown sequences, unknown answers and cut reports are dropped; none of them types anything.
public struct InputDecoder: Sendable {
    private enum State: Sendable {
        case ground
        /// After Escape, and after a second one.
        case escape, twoEscapes
        /// After `CSI`, and after the `CSI [` of the Linux console.
        case sequence, console
        /// After `SS3`.
        case single
        /// In a mouse report of the oldest form (X10): `CSI M` and three bytes, of which some are missing.
        case oldMouse(missing: Int)
        /// After OSC, DCS or APC, and after an Escape that may end it.
        case string, stringEscape
        case paste
    }

    /// The greatest number of bytes of a paste that are kept.
    public static let pasteLimit = 8 << 20
    /// The greatest number of bytes of an answer; a longer one is dropped.
    public static let stringLimit = 64 << 10
    /// Of a control sequence. Only the text of an input method needs so much.
    private static let sequenceLimit = 4 << 10
    /// Of the modifiers after `SS3`.
    private static let modifierLimit = 8
    /// How long a string may take from its beginning, so that one without an end does not take the keyboard away.
    private static let stringPatience = Duration.seconds(1)

    /// Whether the terminal is known to report Escape as a sequence of its own (flag 1 of the kitty keyboard protocol).
    /// Then no key waits for a timer.
    public var reportsEscape = false
    /// Whether the cursor was asked for before a fence. ``TerminalReply/attributes(_:)``, the fence, resets it.
    public var isFenceOpen = false
    /// Whether the marks of pastes count. A reader that must see every pasted byte turns it off.
    var collectsPastes = true

    private let erase: UInt8
    private var state = State.ground
    /// What of the pending sequence was received after its introducer.
    private var held: [UInt8] = []
    /// The byte after the Escape of a string.
    private var introducer: UInt8 = 0
    /// Whether an Escape came before the sequence, as for Alt.
    private var hasAlt = false
    private var isTooLong = false
    /// How long the string takes already.
    private var age = Duration.zero
    /// After an Escape or a report that was not waited for.
    private var late: LateReport?
    private var characters = UTF8Decoder()
    private var characterModifiers: Modifiers = []
    private var paste: PasteCollector
    /// How the paste seems to be over. What follows soon may show that it is not.
    private var ending: PasteCollector.Ending?
    /// How many bytes the sequence has that was completed last, with its Escape.
    private(set) var sequenceLength = 0

    /// A decoder at the beginning of the input.
    ///
    /// - Parameter erase: the byte of Backspace by the terminal's settings (VERASE). DEL and BS are Backspace anyway.
    public init(erase: UInt8 = 0x7F) { self.init(erase: erase, pasteLimit: Self.pasteLimit) }

    init(erase: UInt8 = 0x7F, pasteLimit: Int) {
        self.erase = erase < 0x20 && ![0x00, 0x03, 0x09, 0x0A, 0x0D, 0x1B].contains(erase) ? erase : 0x7F
        paste = PasteCollector(limit: pasteLimit)
    }

    /// The events that are complete with `bytes`.
    ///
    /// - Parameter silence: the time since the bytes before, by which a string without an end is given up even if
    ///   keys are typed all the time.
    public mutating func receive(_ bytes: some Sequence<UInt8>, after silence: Duration = .zero) -> [InputEvent] {
        wait(silence)
        var rest = Array(bytes)[...]
        var events: [InputEvent] = []
        while !rest.isEmpty { events += next(in: &rest) }
        return events
    }

    /// The events that are complete with `byte`.
    public mutating func receive(_ byte: UInt8) -> [InputEvent] { receive(CollectionOfOne(byte)) }

    /// How long an incomplete sequence is worth waiting for, from now on; nil if there is none, or no limit.
    ///
    /// Escape is a key as well as the beginning of most sequences, while Alt-`[` and Alt-O are hardly ever typed. Slow
    /// links cut sequences and pastes, and a link that drops in the middle of one must not block the keyboard.
    public var patience: Duration? {
        switch state {
        case .ground: late?.patience
        case .paste: ending == nil ? .seconds(2) : .milliseconds(20)
        case .string where held.isEmpty && !reportsEscape: .milliseconds(500)
        case .string: Self.stringPatience - age
        case .stringEscape: min(.milliseconds(500), Self.stringPatience - age)
        case .escape, .twoEscapes: reportsEscape ? nil : .milliseconds(50)
        case .sequence, .console, .single, .oldMouse: reportsEscape ? nil : .milliseconds(500)
        }
    }

    /// The events of what was received, because nothing followed. Nothing is pending afterwards.
    public mutating func stopWaiting() -> [InputEvent] {
        let before = state
        state = .ground
        defer { (held, characters) = ([], UTF8Decoder()) }
        switch before {
        case .ground: return endLateReport() + endCharacter()
        case .escape:
            late = LateReport()
            return [.key(KeyPress(.escape))]
        case .twoEscapes:
            late = LateReport()
            return [.key(KeyPress(.escape)), .key(KeyPress(.escape))]
        case .sequence:
            late = LateReport(parameters: held)
            return typedIntroducer(isKey: held.isEmpty)
        case .console: return typedIntroducer() + [.key(KeyPress(.character("[")))]
        case .single: return typedIntroducer() + held.map { .key(KeyPress(.character(Unicode.Scalar($0)))) }
        case .string: return typedIntroducer(isKey: held.isEmpty)
        case .stringEscape: return held.isEmpty ? typedIntroducer() + [.key(KeyPress(.escape))] : []
        case .oldMouse: return prefix
        case .paste: return endPaste(ending)
        }
    }
}

// MARK: For readers of this package

extension InputDecoder {
    /// Whether nothing is pending, so that the next printable byte is text or a part of it.
    var isAtGround: Bool {
        if case .ground = state { return late == nil && !characters.isInside }
        return false
    }

    /// Whether a string has begun and not ended.
    var isInString: Bool {
        if case .string = state { return true }
        return false
    }

    /// Whether a paste has begun and not ended.
    var isPasting: Bool {
        if case .paste = state { return true }
        return false
    }

    /// How many bytes are kept for what is pending.
    var pendingByteCount: Int { held.count + paste.byteCount + (late?.held.count ?? 0) }

    /// Counts the time that passed without bytes. More than the patience was not waited for, or this process stood
    /// still, while the terminal did not.
    mutating func wait(_ silence: Duration) {
        switch state {
        case .string, .stringEscape: if silence < Self.stringPatience - age { age += silence }
        default: break
        }
    }

    /// Takes bytes up to the end of the first events, or all of them.
    mutating func next(in bytes: inout ArraySlice<UInt8>) -> [InputEvent] {
        while let byte = bytes.first {
            var events: [InputEvent] = []
            if isPasting {
                events = continuePaste(&bytes)
            } else {
                bytes.removeFirst()
                events = step(byte)
            }
            if !events.isEmpty { return events }
        }
        return []
    }
}

// MARK: Keys

extension InputDecoder {
    private mutating func step(_ byte: UInt8) -> [InputEvent] {
        sequenceLength += 1
        switch state {
        // A paste takes its bytes in pieces.
        case .ground, .paste: return ground(byte)
        case .escape, .twoEscapes: return escape(byte)
        case .sequence: return sequence(byte)
        case .console: return console(byte)
        case .single: return single(byte)
        case .oldMouse(let missing): return oldMouse(byte, missing)
        case .string: return string(byte)
        case .stringEscape: return stringEscape(byte)
        }
    }

    private mutating func ground(_ byte: UInt8) -> [InputEvent] {
        state = .ground
        var typed: [InputEvent] = []
        switch late?.receive(byte) {
        case nil: break
        case .more: return []
        case .end:
            late = nil
            return []
        case .other: typed = endLateReport()
        }
        guard byte == 0x1B else { return typed + plain(byte) }
        begin(.escape)
        hasAlt = false
        sequenceLength = 1
        return typed + endCharacter()
    }

    private mutating func endLateReport() -> [InputEvent] {
        defer { late = nil }
        return late?.typed ?? []
    }

    /// A byte of text, or a control byte.
    private mutating func plain(_ byte: UInt8, _ modifiers: Modifiers = []) -> [InputEvent] {
        if byte < 0x20 || byte == 0x7F {
            return endCharacter() + [.key(KeyPress(control: byte, erase: erase, modifiers))]
        }
        if !characters.isInside { characterModifiers = modifiers }
        switch characters.receive(byte) {
        case .more: return []
        case .scalar(let value):
            let scalar = Sanitizer.isHarmful(value) ? nil : Unicode.Scalar(value)
            return [.key(KeyPress(.character(scalar ?? "\u{FFFD}"), characterModifiers))]
        case .invalid: return [.key(KeyPress(.character("\u{FFFD}")))]
        case .invalidThenRetry: return [.key(KeyPress(.character("\u{FFFD}")))] + ground(byte)
        }
    }

    /// An unfinished character is one that is invalid.
    private mutating func endCharacter() -> [InputEvent] {
        guard characters.isInside else { return [] }
        characters = UTF8Decoder()
        return [.key(KeyPress(.character("\u{FFFD}")))]
    }

    private mutating func begin(_ next: State) {
        state = next
        held = []
        isTooLong = false
    }

    private mutating func escape(_ byte: UInt8) -> [InputEvent] {
        var isSecond = false
        if case .twoEscapes = state { isSecond = true }
        // Two Escapes are two keys, unless Alt and an arrow send them.
        let first = isSecond ? [InputEvent.key(KeyPress(.escape))] : []
        hasAlt = false
        switch byte {
        case 0x1B:
            begin(.twoEscapes)
            sequenceLength = 1
            return first
        case UInt8(ascii: "["), UInt8(ascii: "O"):
            introducer = byte
            begin(byte == UInt8(ascii: "O") ? .single : .sequence)
            hasAlt = isSecond
            return []
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"):
            introducer = byte
            begin(.string)
            age = .zero
            return first
        default:
            state = .ground
            return first + plain(byte, .alt)
        }
    }

    /// The Escape before a sequence that is no key with Alt.
    private var prefix: [InputEvent] { hasAlt ? [.key(KeyPress(.escape))] : [] }

    /// The introducer was no beginning of a sequence but a key with Alt; or it was one, and is dropped.
    private func typedIntroducer(isKey: Bool = true) -> [InputEvent] {
        prefix + (isKey ? [.key(KeyPress(.character(Unicode.Scalar(introducer)), .alt))] : [])
    }

    private func withAlt(_ event: InputEvent) -> [InputEvent] {
        guard hasAlt, case .key(var press) = event else { return prefix + [event] }
        press.modifiers.insert(.alt)
        return [.key(press)]
    }

    /// After `SS3`: a letter, before which some terminals send the modifiers.
    private mutating func single(_ byte: UInt8) -> [InputEvent] {
        if (0x30...0x3B).contains(byte), held.count < Self.modifierLimit {
            held.append(byte)
            return []
        }
        guard (0x20...0x7E).contains(byte) else { return stopWaiting() + ground(byte) }
        state = .ground
        let sequence = ControlSequence(held, final: byte)
        held = []
        guard let key = ControlSequence.lettered[sequence.final] ?? ControlSequence.keypad[sequence.final] else {
            return prefix
        }
        let modifiers = sequence.number(sequence.fields.count > 1 ? 1 : 0)
        return withAlt(.key(KeyPress(key, Modifiers(parameter: modifiers))))
    }

    /// F1 to F5 of the Linux console.
    private mutating func console(_ byte: UInt8) -> [InputEvent] {
        guard (0x20...0x7E).contains(byte) else { return stopWaiting() + ground(byte) }
        state = .ground
        let number = Int(byte) - 0x40
        return (1...5).contains(number) ? withAlt(.key(KeyPress(.function(number)))) : prefix
    }
}

// MARK: Control sequences and reports

extension InputDecoder {
    private mutating func sequence(_ byte: UInt8) -> [InputEvent] {
        switch byte {
        case 0x20...0x3F:
            if held.count < Self.sequenceLimit { held.append(byte) } else { isTooLong = true }
            return []
        case UInt8(ascii: "[") where held.isEmpty:
            state = .console
            return []
        case UInt8(ascii: "M") where held.isEmpty:
            state = .oldMouse(missing: 3)
            return []
        case 0x40...0x7E:
            state = .ground
            return isTooLong ? prefix : complete(ControlSequence(held, final: byte))
        // Ctrl-C and similar keys work in the middle of a sequence, which is then none.
        default:
            state = .ground
            return typedIntroducer(isKey: held.isEmpty) + ground(byte)
        }
    }

    private mutating func complete(_ sequence: ControlSequence) -> [InputEvent] {
        held = []
        if sequence.beginsPaste {
            if collectsPastes { state = .paste }
            return prefix
        }
        if let reply = TerminalReply(sequence, isFenceOpen: isFenceOpen) {
            if case .attributes = reply { isFenceOpen = false }
            return prefix + [.reply(reply)]
        }
        if let typed = sequence.typed { return withAlt(typed) }
        if let press = MousePress(sequence) { return prefix + [.mouse(press)] }
        if sequence.isFocus { return prefix + [.focus(sequence.final == "I")] }
        return prefix
    }

    private mutating func oldMouse(_ byte: UInt8, _ missing: Int) -> [InputEvent] {
        // A coordinate that is too large is sent as 0.
        guard byte == 0 || byte >= 0x20 else {
            state = .ground
            return prefix + ground(byte)
        }
        state = missing > 1 ? .oldMouse(missing: missing - 1) : .ground
        return missing > 1 ? [] : prefix
    }
}

// MARK: Strings and pastes

extension InputDecoder {
    private mutating func string(_ byte: UInt8) -> [InputEvent] {
        switch byte {
        case 0x07: return endString()
        // In UTF-8 the byte of ST may also be a part of a character.
        case 0x9C where !characters.isInside: return endString()
        case 0x18, 0x1A: return dropString()
        case 0x1B:
            characters = UTF8Decoder()
            state = .stringEscape
        // No answer contains it, so it was typed into a string without an end.
        case 0x03: return dropString() + ground(byte)
        default:
            if characters.receive(byte) == .invalidThenRetry { _ = characters.receive(byte) }
            if held.count < Self.stringLimit { held.append(byte) } else { isTooLong = true }
        }
        return []
    }

    private mutating func stringEscape(_ byte: UInt8) -> [InputEvent] {
        if byte == UInt8(ascii: "\\") { return endString() }
        // Any other sequence ends a string without completing it.
        let typed = held.isEmpty ? typedIntroducer() : []
        begin(.escape)
        sequenceLength = 2
        return typed + escape(byte)
    }

    private mutating func endString() -> [InputEvent] {
        let reply = isTooLong ? nil : TerminalReply(string: held, introducer: introducer)
        _ = dropString()
        return reply.map { [.reply($0)] } ?? []
    }

    private mutating func dropString() -> [InputEvent] {
        characters = UTF8Decoder()
        begin(.ground)
        return []
    }

    private mutating func continuePaste(_ bytes: inout ArraySlice<UInt8>) -> [InputEvent] {
        if ending == nil { ending = paste.receive(&bytes) }
        guard let ending, !bytes.isEmpty else { return [] }
        // Old versions of tmux do not escape an end mark in what is pasted: the last one is the end. And who presses
        // Ctrl-C twice to get out of a paste waits for what that does.
        if ending == .mark, !Self.hasLaterEnd(bytes) { return endPaste(ending) }
        self.ending = nil
        paste.show(ending)
        return []
    }

    private mutating func endPaste(_ ending: PasteCollector.Ending?) -> [InputEvent] {
        state = .ground
        self.ending = nil
        let event = InputEvent.paste(paste.finish(isCut: ending != .mark))
        return ending == .interrupts ? [event, .key(KeyPress(.character("c"), .ctrl))] : [event]
    }

    /// Whether there is an end mark that is not that of another paste.
    private static func hasLaterEnd(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while let start = rest.firstIndex(of: 0x1B) {
            rest = rest[start...]
            if rest.starts(with: PasteCollector.startMark) { return false }
            if rest.starts(with: PasteCollector.endMark) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
