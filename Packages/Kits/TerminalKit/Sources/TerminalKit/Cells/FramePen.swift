/// Writes the cells of one frame, and knows where the terminal's cursor is and how it draws.
///
/// It relies on what terminals agree about: absolute positions, and the width of most clusters. A cluster whose width
/// is doubtful is drawn on cells that were erased before, and after it comes an absolute position.
struct FramePen {
    private(set) var output: [UInt8] = []
    /// Where the cursor is; nil if terminals differ about it.
    private(set) var place: CellPosition?
    /// The row of the cursor, if at least that is known.
    private var row: Int?

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

    /// - Parameter looks: the renditions of the new buffer's styles.
    init(looks: [Rendition], old: CellBuffer, new: CellBuffer) {
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
        let moves = RowMoves(from: old.cells, to: compared, columns: new.columns, rows: new.rows)
        for move in moves.moves { scroll(move) }
        for row in 0..<new.rows { paint(row, over: moves.sources[row]) }
    }

    /// Ends the link and all attributes.
    mutating func reset() { draw(as: .plain) }
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
        var end = columns
        while end > 0 && compared[start + end - 1] == .blank { end -= 1 }
        var last = columns - 1
        while doubt == columns && last > first && isClean(last) { last -= 1 }
        let erases = last >= end && (doubt < columns || last - max(first, end) >= 3)
        let stop = erases ? end : last + 1
        var column = first
        while column < stop {
            if column < doubt && isClean(column) {
                var next = column
                while next < min(stop, doubt) && isClean(next) { next += 1 }
                if canRewrite(row, column..<next) {
                    for column in column..<next { draw(new.cells[start + column], row, column) }
                }
                column = next
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

    /// Whether a gap of cells that have not changed is written again to come to the next change.
    private func canRewrite(_ row: Int, _ gap: Range<Int>) -> Bool {
        guard gap.count <= Self.shortGap, place == CellPosition(row: row, column: gap.lowerBound) else { return false }
        return isPlain(row, gap)
    }

    /// Whether cells can be written as they are, without another look.
    private func isPlain(_ row: Int, _ range: Range<Int>) -> Bool {
        new.cells[row * new.columns + range.lowerBound..<row * new.columns + range.upperBound].allSatisfy {
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
            write(cell, isAtEnd: end >= new.columns)
            place = nil
            // A terminal may draw the rest of the cluster later than the first of it.
            reset()
        } else {
            write(cell, isAtEnd: end >= new.columns)
            // In the last column the cursor is on it, or behind it.
            place = end < new.columns ? CellPosition(row: row, column: end) : nil
            if place == nil { self.row = nil }
        }
    }

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

    private mutating func move(to target: CellPosition) {
        if place == target { return }
        if row == target.row {
            output += FrameSequence.start
            output.append(decimal: target.column + 1)
            output.append(0x47)
        } else if let row, row + 1 == target.row, target.column <= Self.shortIndent,
            isPlain(target.row, 0..<target.column)
        {
            // Lines of a text follow each other, and this takes the fewest bytes.
            output += FrameSequence.lineBreak
            for cell in new.cells[target.row * new.columns..<target.row * new.columns + target.column] {
                output.append(scalar: cell.scalar ?? 0x20)
            }
        } else {
            FrameSequence.move(to: target, &output)
        }
        place = target
        row = target.row
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
