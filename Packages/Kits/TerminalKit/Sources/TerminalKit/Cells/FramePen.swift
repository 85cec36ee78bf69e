/// Where the cursor is among inline rows, counted from the first of them.
struct InlinePlace: Sendable, Equatable {
    var row = 0
    /// Nil if terminals differ about it.
    var column: Int?
}

/// Writes the cells of one frame, and knows where the terminal's cursor is and how it draws.
///
/// It relies on what terminals agree about: absolute positions, and the width of most clusters. A cluster whose width
/// is doubtful is drawn on cells that were erased before, and after it comes an absolute position.
///
/// Inline, the rows are those at the end of a terminal's output, and nobody knows where on the screen that is. They are
/// reached from each other; the column is absolute there too.
struct FramePen {
    private(set) var output: [UInt8] = []
    /// Where the cursor is; nil if terminals differ about it.
    private(set) var place: CellPosition?
    /// The row of the cursor, if at least that is known. Inline it always is.
    private(set) var row: Int?
    private let isInline: Bool

    private var look = Rendition.plain
    /// The number of the style whose look it is, which is sooner compared; nil if it is not known.
    private var style: UInt16?
    private var showsOnSpaces = false
    private let looks: [Rendition]
    private let old: CellBuffer
    private let new: CellBuffer
    /// The new cells, with the numbers of styles and clusters that the old buffer has.
    private let compared: [Cell]

    /// Gaps of up to this many cells are written again, since a position takes as many bytes.
    private static let shortGap = 8

    /// The next row is reached by a line break if at most so many cells are before the change there.
    private static let shortIndent = 4

    /// - Parameters:
    ///   - looks: the renditions of the new buffer's styles.
    ///   - inline: where the cursor is among inline rows, of which the new buffer may have more or fewer than the old
    ///     one; nil for a whole screen.
    init(looks: [Rendition], old: CellBuffer, new: CellBuffer, inline: InlinePlace? = nil) {
        isInline = inline != nil
        row = inline?.row
        place = inline.flatMap { inline in inline.column.map { CellPosition(row: inline.row, column: $0) } }
        self.looks = looks
        self.old = old
        self.new = new
        compared = Self.translated(new, to: old)
    }

    /// Clears a screen in an unknown state.
    mutating func clear(endsLink: Bool) {
        output += FrameSequence.home
        output += FrameSequence.noWrap
        output += FrameSequence.wholeScreen
        output += FrameSequence.home
        if endsLink { output += FrameSequence.endLink }
        output += FrameSequence.reset
        output += FrameSequence.clear
        place = CellPosition(row: 0, column: 0)
        row = 0
    }

    /// Paints what differs.
    mutating func paint() {
        if isInline {
            for row in 0..<new.rows { paint(row, over: row < old.rows ? row : nil) }
            if old.rows > new.rows { eraseBelow(CellPosition(row: new.rows, column: 0)) }
            return
        }
        let moves = RowMoves(from: old.cells, to: compared, columns: new.columns, rows: new.rows)
        for move in moves.moves { scroll(move) }
        for row in 0..<new.rows { paint(row, over: moves.sources[row]) }
    }

    /// Ends the link and all attributes.
    mutating func reset() { draw(as: .plain) }

    /// Erases everything from a place on, and leaves the cursor there.
    mutating func eraseBelow(_ target: CellPosition) {
        reset()
        move(to: target)
        output += FrameSequence.eraseBelow
        place = target
    }
}

// MARK: Rows

extension FramePen {
    /// Moves rows by scrolling a region, with a line feed at its bottom or a reverse one at its top, which all terminals
    /// know. The whole screen is the region again before anything else is written.
    private mutating func scroll(_ move: RowMove) {
        // An erased row takes the colour of the surface.
        reset()
        output += FrameSequence.start
        output.append(decimal: move.top + 1)
        output.append(0x3B)
        output.append(decimal: move.bottom + 1)
        output.append(0x72)
        FrameSequence.move(to: CellPosition(row: move.count > 0 ? move.bottom : move.top, column: 0), &output)
        for _ in 0..<abs(move.count) {
            output += move.count > 0 ? FrameSequence.lineFeed : FrameSequence.reverseLineFeed
        }
        output += FrameSequence.wholeScreen
        (place, row) = (nil, nil)
    }

    /// Paints a row where a row of the old buffer, or none, is on the screen.
    private mutating func paint(_ row: Int, over source: Int?) {
        let columns = new.columns
        let start = row * columns
        func isClean(_ column: Int) -> Bool {
            compared[start + column] == (source.map { old.cells[$0 * columns + column] } ?? .blank)
        }
        guard var first = (0..<columns).first(where: { !isClean($0) }) else { return }
        // Nobody knows where a terminal has drawn what comes after a doubtful cluster, or would draw it now.
        let doubt =
            (0..<columns).first { column in
                compared[start + column].isDoubtful
                    || source.map { old.cells[$0 * columns + column].isDoubtful } ?? false
            } ?? columns
        first = min(first, doubt)
        // From here on, everything is empty.
        let end = new.width(ofRow: row)
        var last = columns - 1
        while doubt == columns && last > first && isClean(last) { last -= 1 }
        let erases = last >= end && (doubt < columns || last - max(first, end) >= 3)
        let stop = erases ? end : last + 1
        var column = first
        while column < stop {
            if column < doubt && isClean(column) {
                column += 1
                continue
            }
            let cell = new.cells[start + column]
            draw(cell, row, column)
            column += max(1, cell.width)
        }
        guard erases else { return }
        if showsOnSpaces { reset() }
        move(to: CellPosition(row: row, column: max(first, end)))
        output += FrameSequence.eraseToEnd
    }

    private func cells(_ row: Int, _ range: Range<Int>) -> ArraySlice<Cell> {
        new.cells[row * new.columns + range.lowerBound..<row * new.columns + range.upperBound]
    }

    /// Whether cells can be written as they are, without another look. The cursor may go below the last inline row.
    private func isPlain(_ row: Int, _ range: Range<Int>) -> Bool {
        row < new.rows
            && cells(row, range).allSatisfy {
                $0.isPrintableASCII && ($0.style == style || $0 == .blank && !showsOnSpaces)
            }
    }
}

// MARK: Cells

extension FramePen {
    private mutating func draw(_ cell: Cell, _ row: Int, _ column: Int) {
        move(to: CellPosition(row: row, column: column))
        // An empty cell looks the same in many styles.
        if cell.style != style && (cell != .blank || showsOnSpaces) {
            draw(as: looks[Int(cell.style)])
            style = cell.style
        }
        let end = column + cell.width
        if cell.isDoubtful {
            output += FrameSequence.start
            if cell.width > 1 { output.append(decimal: cell.width) }
            output.append(0x58)
            write(cell, isAtEnd: end >= edge)
            place = nil
            // A terminal may draw the rest of the cluster later than the first of it.
            reset()
        } else {
            write(cell, isAtEnd: end >= edge)
            // In the last column the cursor is on it, or behind it.
            place = end < edge ? CellPosition(row: row, column: end) : nil
            if place == nil { self.row = nil }
        }
    }

    /// The column after the last one of the terminal. Inline rows do not reach that.
    private var edge: Int { isInline ? .max : new.columns }

    private mutating func write(_ cell: Cell, isAtEnd: Bool) {
        guard let cluster = cell.cluster else { return output.append(scalar: cell.scalar ?? 0x20) }
        let text = new.clusters[Int(cluster)]
        if isAtEnd && cell.width == 1 {
            // Without autowrap, tmux 3.3 has the cursor on the last cell and puts a mark on the cell before it.
            if let first = text.unicodeScalars.first { output.append(scalar: first.value) }
        } else {
            output += text.utf8
        }
    }

    /// Puts the cursor there.
    mutating func move(to target: CellPosition) {
        if place == target { return }
        // A line break may scroll inline rows, and the new one takes the colour of the surface.
        if isInline, showsOnSpaces, row != target.row { reset() }
        if row == target.row {
            if let place, canRewrite(target.row, from: place.column, to: target.column) {
                rewrite(target.row, place.column..<target.column)
            } else {
                move(toColumn: target.column)
            }
        } else if let row, row + 1 == target.row, target.column <= Self.shortIndent,
            isPlain(target.row, 0..<target.column)
        {
            // Lines of a text follow each other, and this takes the fewest bytes.
            output += FrameSequence.lineBreak
            rewrite(target.row, 0..<target.column)
        } else if isInline, let row {
            move(from: row, toInline: target)
        } else {
            FrameSequence.move(to: target, &output)
        }
        place = target
        row = target.row
    }

    private mutating func move(from row: Int, toInline target: CellPosition) {
        var column = place?.column
        if target.row < row {
            output += FrameSequence.start
            output.append(decimal: row - target.row)
            output.append(0x41)
        } else {
            // A row that does not exist yet begins with a line break, which may scroll the screen.
            for _ in row..<target.row { output += FrameSequence.lineBreak }
            column = 0
        }
        if column != target.column { move(toColumn: target.column) }
    }

    private mutating func move(toColumn column: Int) {
        if isInline && column == 0 { return output.append(0x0D) }
        output += FrameSequence.start
        output.append(decimal: column + 1)
        output.append(0x47)
    }

    /// Whether cells that have not changed are written again to come to a column.
    private func canRewrite(_ row: Int, from start: Int, to end: Int) -> Bool {
        start < end && end - start <= Self.shortGap && isPlain(row, start..<end)
    }

    private mutating func rewrite(_ row: Int, _ range: Range<Int>) {
        for cell in cells(row, range) { output.append(scalar: cell.scalar ?? 0x20) }
    }

    private mutating func draw(as wanted: Rendition) {
        guard wanted != look else { return }
        if wanted.link != look.link { output += wanted.link.map(FrameSequence.beginLink) ?? FrameSequence.endLink }
        wanted.addSequence(from: look, to: &output)
        look = wanted
        (style, showsOnSpaces) = (nil, wanted.showsOnSpaces)
    }
}

// MARK: Comparison

extension FramePen {
    /// The cells of a buffer with the numbers that another one has for its styles and clusters, so that equal cells look
    /// the same.
    private static func translated(_ buffer: CellBuffer, to other: CellBuffer) -> [Cell] {
        let styles = buffer.styles.enumerated().map { number, style in
            other.styleNumbers[style] ?? UInt16(CellBuffer.maximumStyles + number)
        }
        let clusters = buffer.clusters.enumerated().map { number, cluster in
            other.clusterNumbers[cluster] ?? UInt32(other.clusters.count + number)
        }
        let isSame = styles.enumerated().allSatisfy { $0 == $1 } && clusters.enumerated().allSatisfy { $0 == $1 }
        if isSame { return buffer.cells }
        return buffer.cells.map { cell in
            var cell = cell
            if let cluster = cell.cluster { cell = cell.with(cluster: clusters[Int(cluster)]) }
            if cell.style != 0 { cell.style = styles[Int(cell.style)] }
            return cell
        }
    }
}
