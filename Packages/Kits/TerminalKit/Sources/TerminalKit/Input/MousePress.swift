/// A mouse event: a press, a release, a drag, a motion or a turn of the wheel.
public struct MousePress: Hashable, Sendable {
    /// The kind of action.
    public enum Action: Hashable, Sendable {
        /// A button was pressed or released.
        case press, release
        /// Moved with the button held.
        case drag
        /// Moved without a button.
        case motion
        /// One step of the wheel.
        case scroll(Direction)
    }

    /// Where the content is scrolled to.
    public enum Direction: Hashable, Sendable {
        /// The directions of the two wheels.
        case up, down, left, right
    }

    /// A button of the mouse.
    public enum Button: Hashable, Sendable {
        /// No button, or the terminal does not say which one.
        case none
        /// The usual three.
        case left, middle, right
        /// The buttons 8 to 11.
        case extra(Int)
    }

    /// What was done.
    public var action: Action
    /// The button; none for a motion and for the wheel.
    public var button: Button
    /// The keys that were held: Shift, Alt and Ctrl.
    public var modifiers: Modifiers
    /// The column and the row of the cell, counted from 1.
    public var column: Int, row: Int

    /// An action at a cell.
    public init(_ action: Action, _ button: Button = .none, _ modifiers: Modifiers = [], column: Int, row: Int) {
        self.action = action
        self.button = button
        self.modifiers = modifiers
        self.column = column
        self.row = row
    }

    /// The report `CSI < b ; x ; y M`, or `m` for a release; nil if it is another one or makes no sense.
    init?(_ sequence: ControlSequence) {
        guard sequence.prefix == UInt8(ascii: "<"), sequence.intermediates.isEmpty,
            ["M", "m"].contains(sequence.final),
            sequence.fields.count == 3, let code = sequence.number(0), let column = sequence.number(1),
            let row = sequence.number(2), column > 0, row > 0, code < 256
        else { return nil }
        var modifiers: Modifiers = []
        if code & 4 != 0 { modifiers.insert(.shift) }
        if code & 8 != 0 { modifiers.insert(.alt) }
        if code & 16 != 0 { modifiers.insert(.ctrl) }
        let isRelease = sequence.final == "m"
        let button = code & 0b1100_0011
        if (64...67).contains(button) {
            // A wheel has no release; some terminals send one nevertheless.
            let directions: [Direction] = [.up, .down, .left, .right]
            guard !isRelease else { return nil }
            self.init(.scroll(directions[button - 64]), .none, modifiers, column: column, row: row)
            return
        }
        let names: [Int: Button] = [0: .left, 1: .middle, 2: .right, 3: .none]
        guard let name = names[button] ?? ((128...131).contains(button) ? .extra(button - 120) : nil) else {
            return nil
        }
        let moved: Action = name == .none ? .motion : .drag
        self.init(
            code & 32 != 0 ? moved : isRelease ? .release : .press, name, modifiers, column: column, row: row)
    }
}

/// The rest of a mouse report whose beginning was not waited for, so that a report that is cut types nothing.
struct LateReport: Sendable {
    enum Step { case more, end, other }

    /// After a lone Escape `[` and `<` are expected, and after `CSI <` the rest.
    private enum Stage { case bracket, mark, numbers }

    /// Longer ones are no reports.
    private static let limit = 24

    /// Whether nobody can have typed the beginning.
    let isCertain: Bool
    private var stage: Stage
    /// What looks like the rest.
    private(set) var held: [UInt8] = []

    /// After an Escape that nothing followed in time.
    init() { (isCertain, stage) = (false, .bracket) }

    /// After `CSI` and some parameters; nil if they do not begin a report.
    init?(parameters: [UInt8]) {
        guard let first = parameters.first else {
            (isCertain, stage) = (false, .mark)
            return
        }
        guard first == UInt8(ascii: "<") else { return nil }
        (isCertain, stage) = (true, .numbers)
    }

    /// How long the held bytes are worth waiting for. What may be typed is shown soon.
    var patience: Duration? { held.isEmpty ? nil : .milliseconds(isCertain ? 500 : 50) }

    /// Takes a byte; `other` if it does not belong to the report.
    mutating func receive(_ byte: UInt8) -> Step {
        guard held.count < Self.limit else { return .other }
        switch (stage, byte) {
        case (.bracket, UInt8(ascii: "[")): stage = .mark
        case (.mark, UInt8(ascii: "<")): stage = .numbers
        case (.numbers, 0x30...0x39), (.numbers, UInt8(ascii: ";")): break
        case (.numbers, UInt8(ascii: "M")), (.numbers, UInt8(ascii: "m")): return .end
        default: return .other
        }
        held.append(byte)
        return .more
    }

    /// What was typed, because it is no report.
    var typed: [InputEvent] { isCertain ? [] : held.map { .key(KeyPress(.character(Unicode.Scalar($0)))) } }
}
