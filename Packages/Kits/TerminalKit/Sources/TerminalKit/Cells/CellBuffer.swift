import CUTF8Proc

/// The cells of a screen, to be drawn on and then painted by a ``Painter``.
///
///     var cells = CellBuffer(columns: 80, rows: 24)
///     cells.write("web1 is ready", row: 0, column: 2)
///     cells.fill(CellArea(row: 23, column: 0, rows: 1, columns: 80), Style(background: .accent))
///
/// A wide character has two cells and is never split: to draw on one of them blanks the other. Nothing is drawn
/// outside the buffer. The styles and the longer clusters are kept in tables of the buffer, so start each frame with a
/// new buffer, or with a copy of the last one in which little changes.
public struct CellBuffer: Sendable {
    /// The number of columns.
    public let columns: Int
    /// The number of rows.
    public let rows: Int
    /// Row by row.
    private(set) var cells: [Cell]
    /// The styles by their numbers; 0 is plain.
    private(set) var styles: [Style] = [.plain]
    private(set) var styleNumbers: [Style: UInt16] = [.plain: 0]
    /// The clusters of more than one scalar by their numbers.
    private(set) var clusters: [String] = []
    private(set) var clusterNumbers: [String: UInt32] = [:]

    /// A painter gives higher numbers to styles that only one of two buffers has.
    static let maximumStyles = 0x7FFF

    /// An empty screen; a negative size is none.
    public init(columns: Int, rows: Int) {
        self.columns = max(0, columns)
        self.rows = max(0, rows)
        cells = Array(repeating: .blank, count: self.columns * self.rows)
    }

    /// All cells.
    public var area: CellArea { CellArea(row: 0, column: 0, rows: rows, columns: columns) }

    // MARK: Reading

    /// What the cell shows; nothing in the right half of a wide character, and outside the buffer.
    public func cluster(at place: CellPosition) -> String {
        area.contains(place) ? text(of: cells[index(place.row, place.column)]) : ""
    }

    /// The style of the cell; plain outside the buffer.
    public func style(at place: CellPosition) -> Style {
        area.contains(place) ? styles[Int(cells[index(place.row, place.column)].style)] : .plain
    }

    /// The text of a row without the spaces at its end.
    public func text(row: Int) -> String {
        guard area.rowRange.contains(row) else { return "" }
        var text = ""
        for cell in cells[row * columns..<(row + 1) * columns] { text += self.text(of: cell) }
        while text.hasSuffix(" ") { text.removeLast() }
        return text
    }

    /// The columns of a row up to its last cell that is not empty.
    func width(ofRow row: Int) -> Int {
        var end = columns
        while end > 0 && cells[index(row, end - 1)] == .blank { end -= 1 }
        return end
    }

    func text(of cell: Cell) -> String {
        if let cluster = cell.cluster { return clusters[Int(cluster)] }
        guard !cell.isRightHalf, let scalar = cell.scalar.flatMap(Unicode.Scalar.init) else { return "" }
        return String(Character(scalar))
    }

    private func index(_ row: Int, _ column: Int) -> Int { row * columns + column }

    // MARK: Drawing

    /// Draws one line of text from that place on, and nothing of it outside `clip`.
    ///
    /// The column may be negative, for text that is scrolled sideways. A wide character of which only one half is
    /// inside is drawn as a space. Tabs and line ends are spaces. Scalars that nobody sees are shown by name.
    public mutating func write(_ text: StyledText, row: Int, column: Int, in clip: CellArea? = nil) {
        let clip = (clip ?? area).intersection(area)
        guard !clip.isEmpty, clip.rowRange.contains(row) else { return }
        var line = Line(row: row, column: column, clip: clip.columnRange)
        for run in text.runs {
            guard line.column < clip.endColumn else { return }
            write(run.text, number(of: run.style), &line)
        }
    }

    /// Draws spaces in a style.
    public mutating func fill(_ area: CellArea, _ style: Style = .plain) {
        let area = area.intersection(self.area)
        guard !area.isEmpty else { return }
        let cell = Cell.space(showsOnSpaces(style) ? number(of: style) : 0)
        for row in area.rowRange {
            cut(before: area.column, in: row)
            cut(before: area.endColumn, in: row)
            let start = index(row, area.column)
            for index in start..<start + area.columns { cells[index] = cell }
        }
    }

    /// Makes the cells empty.
    public mutating func erase(_ area: CellArea) { fill(area) }

    /// Changes the styles of cells and keeps what they show, as for a selection. A wide character has the style of its
    /// left half.
    public mutating func restyle(_ area: CellArea, _ change: (inout Style) -> Void) {
        let area = area.intersection(self.area)
        var changed: [UInt16: UInt16] = [:]
        for row in area.rowRange {
            for column in area.columnRange {
                let place = index(row, column)
                let cell = cells[place]
                if cell.isRightHalf && column > 0 {
                    cells[place].style = cells[place - 1].style
                    continue
                }
                var number = changed[cell.style]
                if number == nil {
                    var style = styles[Int(cell.style)]
                    change(&style)
                    number = self.number(of: style)
                    changed[cell.style] = number
                }
                cells[place].style = number ?? cell.style
                if cell.isSpace, !showsOnSpaces(styles[Int(cells[place].style)]) { cells[place].style = 0 }
                if cell.width == 2 && column + 1 < columns { cells[place + 1].style = cells[place].style }
            }
        }
    }
}

extension CellBuffer {
    /// Moves whole rows up, or down by a negative number, as when a list scrolls. Rows that come from outside the range
    /// are empty.
    public mutating func move(rows range: Range<Int>, by count: Int) {
        let range = range.clamped(to: 0..<rows)
        guard count != 0 else { return }
        let before = cells
        for row in range {
            let target = row * columns..<(row + 1) * columns
            if range.contains(row + count) {
                let start = (row + count) * columns
                cells.replaceSubrange(target, with: before[start..<start + columns])
            } else {
                for index in target { cells[index] = .blank }
            }
        }
    }
}

// MARK: Cells

extension CellBuffer {
    /// Where a line of text continues.
    private struct Line {
        let row: Int
        var column: Int
        let clip: Range<Int>
    }

    private mutating func write(_ text: String, _ style: UInt16, _ line: inout Line) {
        // A space in a colour looks like any other, and needs no change of the colour when it is painted.
        let space = showsOnSpaces(styles[Int(style)]) ? style : 0
        let bytes = text.utf8.span
        var offset = 0
        while offset < bytes.count && line.column < line.clip.upperBound {
            let (scalar, length) = Self.decode(bytes, offset)
            let next = offset + length < bytes.count ? Self.decode(bytes, offset + length).scalar : 0x20
            if (Glyph.standsAlone(scalar) || scalar < 0x20) && (Glyph.standsAlone(next) || next < 0x20) {
                offset += length
                if scalar <= 0x20 {
                    put(.space(space), &line)
                } else if scalar < 0x7F {
                    put(Cell(scalar: scalar, style: style, width: 1), &line)
                } else {
                    let width = Int(utf8proc_charwidth(Int32(bitPattern: scalar)))
                    put(Cell(scalar: scalar, style: style, width: width), &line)
                }
            } else {
                let character = text[text.utf8.index(text.startIndex, offsetBy: offset)]
                offset += character.utf8.count
                if character == " " || character.isNewline && character.isASCII || character == "\t" {
                    put(.space(space), &line)
                } else {
                    let following = offset < bytes.count ? Unicode.Scalar(Self.decode(bytes, offset).scalar) : nil
                    Glyph.read(character, before: following) { put(cell($0, style), &line) }
                }
            }
        }
    }

    /// The scalar at a place of a text that is valid, and the number of its bytes.
    private static func decode(_ bytes: Span<UInt8>, _ offset: Int) -> (scalar: UInt32, length: Int) {
        let first = UInt32(bytes[offset])
        if first < 0x80 { return (first, 1) }
        func part(_ number: Int) -> UInt32 { UInt32(bytes[offset + number]) & 0x3F }
        if first < 0xE0 { return ((first & 0x1F) << 6 | part(1), 2) }
        if first < 0xF0 { return ((first & 0xF) << 12 | part(1) << 6 | part(2), 3) }
        return ((first & 7) << 18 | part(1) << 12 | part(2) << 6 | part(3), 4)
    }

    private mutating func cell(_ glyph: Glyph, _ style: UInt16) -> Cell {
        if let scalar = glyph.scalar {
            return Cell(scalar: scalar, style: style, width: glyph.width, isDoubtful: glyph.isDoubtful)
        }
        return Cell(
            cluster: number(of: glyph.cluster), style: style, width: glyph.width, isDoubtful: glyph.isDoubtful)
    }

    private mutating func put(_ cell: Cell, _ line: inout Line) {
        let (column, end) = (line.column, line.column + cell.width)
        line.column = end
        if line.clip.lowerBound <= column && end <= line.clip.upperBound {
            cut(before: column, in: line.row)
            cut(before: end, in: line.row)
            cells[index(line.row, column)] = cell
            if cell.width == 2 { cells[index(line.row, column + 1)] = .rightHalf(cell.style) }
            return
        }
        // Half of a wide character is inside.
        for column in column..<end where line.clip.contains(column) {
            cut(before: column, in: line.row)
            cut(before: column + 1, in: line.row)
            cells[index(line.row, column)] = .space(showsOnSpaces(styles[Int(cell.style)]) ? cell.style : 0)
        }
    }

    /// Blanks a wide character that would otherwise be cut at that column.
    private mutating func cut(before column: Int, in row: Int) {
        guard column > 0 && column < columns else { return }
        let place = index(row, column)
        guard cells[place].isRightHalf else { return }
        let style = showsOnSpaces(styles[Int(cells[place].style)]) ? cells[place].style : 0
        cells[place - 1] = .space(style)
        cells[place] = .space(style)
    }

    /// Whether a space in that style is not just an empty cell.
    private func showsOnSpaces(_ style: Style) -> Bool {
        style.background != nil || style.reverse || style.underline || style.strikethrough || style.link != nil
    }

    private mutating func number(of style: Style) -> UInt16 {
        // Most screens have a few styles, which are sooner compared than hashed.
        for number in 0..<min(8, styles.count) where styles[number] == style { return UInt16(number) }
        if let number = styleNumbers[style] { return number }
        // No screen has so many; without its style the text is still there.
        guard styles.count < Self.maximumStyles else { return 0 }
        let number = UInt16(styles.count)
        styles.append(style)
        styleNumbers[style] = number
        return number
    }

    private mutating func number(of cluster: String) -> UInt32 {
        if let number = clusterNumbers[cluster] { return number }
        let number = UInt32(clusters.count)
        clusters.append(cluster)
        clusterNumbers[cluster] = number
        return number
    }
}
