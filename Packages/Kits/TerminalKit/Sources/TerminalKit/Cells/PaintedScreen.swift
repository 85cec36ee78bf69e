/// A terminal in memory that knows the sequences of frames, and notes what a frame must not contain.
///
/// It is the oracle of tests and fuzzers. Terminals differ about the width of some clusters, so it can be as wrong about
/// these as some of them are.
struct PaintedScreen {
    /// One cell: its text, nothing in the right half of a wide one, and how it is drawn.
    struct PaintedCell: Equatable {
        var text = " "
        var look = Rendition.plain
    }

    let columns: Int
    let rows: Int
    private(set) var cells: [[PaintedCell]]
    /// Which rules the frames have broken.
    private(set) var faults: [String] = []
    /// Where the cursor is, in the last column also after a cell was drawn there.
    private(set) var place = CellPosition(row: 0, column: 0)
    private(set) var isCursorVisible = true

    private let width: @Sendable (Character) -> Int
    private var look = Rendition.plain
    private var region: ClosedRange<Int>?
    private var isInUpdate = false
    private var hasWrap = true
    /// Whether a position was set, and none of it has been lost since.
    private var isPlaced = false
    /// The cells that were erased for a doubtful cluster.
    private var room: (place: CellPosition, count: Int)?

    /// - Parameter width: the columns that this terminal gives a doubtful cluster.
    init(columns: Int, rows: Int, width: @escaping @Sendable (Character) -> Int = { TextWidth.of($0) }) {
        (self.columns, self.rows, self.width) = (columns, rows, width)
        cells = Array(repeating: Array(repeating: PaintedCell(), count: columns), count: rows)
    }

    /// Obeys one frame.
    mutating func show(_ frame: [UInt8]) {
        isPlaced = false
        var returned = false
        var text = ""
        var rest = Array(String(decoding: frame, as: UTF8.self).unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            if scalar == "\r" || scalar == "\n" || scalar == "\u{1B}" {
                draw(text)
                text = ""
            }
            switch scalar {
            case "\r":
                expect(rest.first == "\n", "a return is sent without a line feed")
                place.column = 0
                returned = true
            case "\n":
                if returned { breakLine() } else { feed(up: true) }
                returned = false
            case "\u{1B}": obey(&rest)
            default: text.unicodeScalars.append(scalar)
            }
        }
        draw(text)
        expect(!isInUpdate, "an update is open after the frame")
        expect(region == nil, "a region is set after the frame")
        expect(look == .plain, "the look is not reset after the frame")
    }

    private mutating func expect(_ isTrue: Bool, _ fault: @autoclosure () -> String) {
        if !isTrue { faults.append(fault()) }
    }
}

// MARK: Sequences

extension PaintedScreen {
    private mutating func obey(_ rest: inout ArraySlice<Unicode.Scalar>) {
        switch rest.popFirst() {
        case "[": control(&rest)
        case "]": link(&rest)
        case "M": feed(up: false)
        case let other: faults.append("ESC \(String(describing: other)) is sent")
        }
    }

    private mutating func control(_ rest: inout ArraySlice<Unicode.Scalar>) {
        let body = rest.prefix { ("0"..."9").contains($0) || $0 == ";" || $0 == "?" }
        rest = rest.dropFirst(body.count)
        let numbers = body.filter { $0 != "?" }.split(separator: ";", omittingEmptySubsequences: false)
            .map { Int(String(String.UnicodeScalarView($0))) }
        func number(_ index: Int) -> Int { (index < numbers.count ? numbers[index] : nil) ?? 1 }
        let final = rest.popFirst() ?? " "
        expect(region == nil || final == "H" || final == "r", "\(final) is sent while a region is set")
        switch final {
        case "H":
            expect(
                (1...rows).contains(number(0)) && (1...columns).contains(number(1)), "the place is not on the screen")
            place = CellPosition(row: min(number(0), rows) - 1, column: min(number(1), columns) - 1)
            isPlaced = true
        case "G":
            expect((1...columns).contains(number(0)), "the column is not on the screen")
            place.column = min(number(0), columns) - 1
            isPlaced = true
        case "K", "X":
            expect(isPlaced, "cells are erased at an unknown place")
            expect(final == "X" || look.link == nil, "a row is erased with an open link")
            let count = final == "K" ? columns : number(0)
            erase(place.row, place.column..<min(columns, place.column + count))
            if final == "X" { room = (place, count) }
        case "J":
            expect(number(0) == 2, "a part of the screen is erased")
            expect(look.link == nil, "the screen is erased with an open link")
            for row in 0..<rows { erase(row, 0..<columns) }
        case "m": select(numbers.map { $0 ?? 0 })
        case "r": setRegion(numbers)
        case "h", "l": setMode(number(0), final == "h", isPrivate: body.first == "?")
        default: faults.append("CSI \(String(String.UnicodeScalarView(body)))\(final) is sent")
        }
    }

    private mutating func setMode(_ mode: Int, _ isOn: Bool, isPrivate: Bool) {
        switch (isPrivate, mode) {
        case (true, 25): isCursorVisible = isOn
        case (true, 7): hasWrap = isOn
        case (true, 2026):
            expect(isInUpdate != isOn, "updates are nested")
            isInUpdate = isOn
        default: faults.append("mode \(mode) is set")
        }
    }

    private mutating func breakLine() {
        expect(region == nil && place.row + 1 < rows, "a line is broken where rows would move")
        place.row = min(rows - 1, place.row + 1)
        isPlaced = true
    }

    private mutating func setRegion(_ numbers: [Int?]) {
        // The cursor goes home in most terminals.
        isPlaced = false
        expect(look.link == nil, "a region is set with an open link")
        guard let top = numbers.first.flatMap({ $0 }) else { return region = nil }
        let bottom = (numbers.count > 1 ? numbers[1] : nil) ?? 0
        guard top >= 1, top < bottom, bottom <= rows else { return faults.append("the region is \(top) to \(bottom)") }
        region = top - 1...bottom - 1
    }

    private mutating func feed(up: Bool) {
        guard let region, isPlaced, place.row == (up ? region.upperBound : region.lowerBound) else {
            return faults.append("a line feed is sent outside the edge of a region")
        }
        expect(isInUpdate || !isCursorVisible, "rows move under a visible cursor")
        let empty = Array(repeating: PaintedCell(text: " ", look: surface), count: columns)
        cells.remove(at: up ? region.lowerBound : region.upperBound)
        cells.insert(empty, at: up ? region.upperBound : region.lowerBound)
    }

    private mutating func link(_ rest: inout ArraySlice<Unicode.Scalar>) {
        let body = rest.prefix { $0 != "\u{1B}" }
        rest = rest.dropFirst(body.count + 2)
        let parts = String(String.UnicodeScalarView(body)).split(
            separator: ";", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "8" else { return faults.append("OSC \(parts) is sent") }
        look.link = parts[2].isEmpty ? nil : LinkTarget(String(parts[2]))
        expect(parts[2].isEmpty || parts[1].hasPrefix("id=") && look.link != nil, "the link \(parts) is none")
        expect(
            parts[2].utf8.count <= 2_000 && parts[2].utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(parts) is harmful")
    }

    private mutating func select(_ numbers: [Int]) {
        var rest = (numbers.isEmpty ? [0] : numbers)[...]
        let link = look.link
        while let number = rest.popFirst() {
            switch number {
            case 0:
                look = .plain
                look.link = link
            case 1: look.bold = true
            case 2: look.dim = true
            case 3, 23: look.italic = number == 3
            case 4, 24: look.underline = number == 4
            case 7, 27: look.reverse = number == 7
            case 9, 29: look.strikethrough = number == 9
            case 22: (look.bold, look.dim) = (false, false)
            case 30...37, 90...97: look.foreground = .named(number)
            case 40...47, 100...107: look.background = .named(number - 10)
            case 39: look.foreground = .terminalDefault
            case 49: look.background = .terminalDefault
            case 38, 48:
                let color: Rendition.Color
                if rest.popFirst() == 5 {
                    color = .indexed(rest.popFirst() ?? 0)
                } else {
                    color = .rgb(rest.popFirst() ?? 0, rest.popFirst() ?? 0, rest.popFirst() ?? 0)
                }
                if number == 38 { look.foreground = color } else { look.background = color }
            default: faults.append("SGR \(number) is sent")
            }
        }
    }
}

// MARK: Cells

extension PaintedScreen {
    private mutating func draw(_ text: String) {
        for character in text {
            let first = character.unicodeScalars.first?.value ?? 0
            expect(first >= 0x20 && !Sanitizer.isHarmful(first), "U+\(String(first, radix: 16)) is sent")
            expect(TextWidth.of(character) > 0, "a mark is sent by itself")
            expect(isPlaced, "\(character) is drawn at an unknown place")
            expect(region == nil, "\(character) is drawn while a region is set")
            expect(isInUpdate || !isCursorVisible, "\(character) is drawn under a visible cursor")
            expect(!hasWrap, "\(character) is drawn with autowrap")
            let isDoubtful = TextWidth.isDoubtful(character)
            let ours = TextWidth.of(character)
            if isDoubtful {
                let isErased = room.map { $0.place == place && $0.count == ours } ?? false
                expect(isErased, "no room was made for \(character)")
            }
            room = nil
            put(character, isDoubtful ? width(character) : ours)
            if isDoubtful { isPlaced = false }
        }
    }

    private mutating func put(_ character: Character, _ width: Int) {
        guard width > 0 else { return }
        let shown = min(width, columns - place.column)
        // What does not fit the row is not drawn, as in tmux.
        if width == 1 || shown == width {
            erase(place.row, place.column..<place.column + shown, as: look)
            cells[place.row][place.column].text = String(character)
            for column in place.column + 1..<max(place.column + 1, place.column + shown) {
                cells[place.row][column].text = ""
            }
        }
        place.column += shown
        if place.column >= columns {
            place.column = columns - 1
            // The next character would replace the last one.
            isPlaced = false
        }
    }

    private mutating func erase(_ row: Int, _ range: Range<Int>, as look: Rendition? = nil) {
        // Half of a wide character is none.
        for edge in [range.lowerBound, range.upperBound] where (1..<columns).contains(edge) {
            var (start, end) = (edge, edge)
            while start > 0 && cells[row][start].text.isEmpty { start -= 1 }
            while end < columns && cells[row][end].text.isEmpty { end += 1 }
            if start < edge { for column in start..<end { cells[row][column].text = " " } }
        }
        for column in range { cells[row][column] = PaintedCell(text: " ", look: look ?? surface) }
    }

    /// Erased cells have the colour of the surface and nothing else.
    private var surface: Rendition {
        var surface = Rendition.plain
        surface.background = look.background
        return surface
    }
}

// MARK: Comparison

extension PaintedScreen {
    /// What is not as in the buffer, of the clusters about whose width terminals agree.
    func differences(
        from buffer: CellBuffer, level: ColorLevel, theme: Theme = .dark, links: Bool = false
    ) -> [String] {
        var differences: [String] = []
        for row in 0..<rows {
            var isDoubtful = false
            for column in 0..<columns {
                let cell = buffer.cells[row * columns + column]
                if !cell.isRightHalf { isDoubtful = cell.isDoubtful }
                if isDoubtful { continue }
                var look = Rendition(buffer.styles[Int(cell.style)], level: level, theme: theme).withoutNamedDefault
                if !links { look.link = nil }
                let painted = cells[row][column]
                let isText = painted.text == buffer.text(of: cell) || isWithoutMarks(cell, column, painted, buffer)
                let isLook =
                    painted.look == look
                    || cell.isSpace && !look.showsOnSpaces && !painted.look.showsOnSpaces
                if !isText || !isLook {
                    differences.append("\(row);\(column): \(painted) for \(buffer.text(of: cell)) in \(look)")
                }
            }
        }
        return differences
    }

    /// Marks that no letter of Unicode has are left out in the last column.
    private func isWithoutMarks(_ cell: Cell, _ column: Int, _ painted: PaintedCell, _ buffer: CellBuffer) -> Bool {
        guard column == columns - 1, cell.cluster != nil, let first = buffer.text(of: cell).unicodeScalars.first else {
            return false
        }
        return painted.text == String(Character(first))
    }
}
