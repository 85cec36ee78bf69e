/// Rows that moved as a block: what a terminal does when a region of it scrolls.
struct RowMove: Equatable, Sendable {
    /// The region, both rows included.
    let top: Int
    let bottom: Int
    /// By how many rows its content moves up; a negative number moves it down. The rows that it leaves are empty.
    let count: Int
}

/// The moves after which the least is left to paint, and where the rows are then.
struct RowMoves: Equatable, Sendable {
    private(set) var moves: [RowMove] = []
    /// For each row of the screen the row of the old buffer that is now there; nil where the screen is empty.
    private(set) var sources: [Int?]

    /// The bytes of the sequences around a move; less gain is not worth it.
    private static let cost = 34
    /// A frame in which more blocks have moved is repainted in part.
    private static let maximumMoves = 4
    /// How many blocks are tried for a move, the longest ones. To compare a block takes as long as to compare its region,
    /// which may be the whole screen.
    private static let maximumCandidates = 8

    /// Compares buffers of the same size, whose cells are equal if they look the same.
    init(from old: [Cell], to new: [Cell], columns: Int, rows: Int) {
        sources = Array(0..<rows)
        let screens = Screens(old: old, new: new, columns: columns)
        var costs = (0..<rows).map { screens.cost(of: $0, from: $0) }
        guard costs.count(where: { $0 > 0 }) > 1 else { return }
        let oldHashes = (0..<rows).map { screens.hash(old, $0) }
        let newHashes = (0..<rows).map { screens.hash(new, $0) }
        while moves.count < Self.maximumMoves {
            guard let move = bestMove(screens, costs, oldHashes, newHashes) else { return }
            moves.append(move)
            let before = sources
            for row in move.top...move.bottom {
                let from = row + move.count
                sources[row] = (move.top...move.bottom).contains(from) ? before[from] : nil
                costs[row] = screens.cost(of: row, from: sources[row])
            }
        }
    }

    private func bestMove(
        _ screens: Screens, _ costs: [Int], _ oldHashes: [UInt64], _ newHashes: [UInt64]
    ) -> RowMove? {
        let current = sources.map { $0.map { oldHashes[$0] } }
        // Where each row that is there once is now; rows that look alike have no place.
        var places: [UInt64: Int] = [:]
        for (row, hash) in current.enumerated() {
            guard let hash else { continue }
            places[hash] = places[hash] == nil ? row : -1
        }
        var candidates: [(length: Int, move: RowMove)] = []
        var row = 0
        while row < costs.count {
            guard costs[row] > 0, let place = places[newHashes[row]], place >= 0, place != row else {
                row += 1
                continue
            }
            let count = place - row
            func hasMoved(_ row: Int) -> Bool {
                current.indices.contains(row + count) && current[row + count] == newHashes[row]
            }
            var (first, last) = (row, row)
            while first > 0 && hasMoved(first - 1) { first -= 1 }
            while last + 1 < costs.count && hasMoved(last + 1) { last += 1 }
            let move = RowMove(top: min(first, first + count), bottom: max(last, last + count), count: count)
            candidates.append((last - first, move))
            // The row after those may have moved with them and changed, as the last line of a text that grows.
            let next = max(last, last + count) + 1
            if next < costs.count {
                candidates.append((last - first, RowMove(top: move.top, bottom: next, count: count)))
            }
            row = last + 1
        }
        var best: (gain: Int, move: RowMove)?
        for candidate in candidates.sorted(by: { $0.length > $1.length }).prefix(Self.maximumCandidates) {
            let gain = self.gain(of: candidate.move, screens, costs)
            if gain > best?.gain ?? 0 { best = (gain, candidate.move) }
        }
        return best?.move
    }

    /// The cells that need not be painted, less what the move costs.
    private func gain(of move: RowMove, _ screens: Screens, _ costs: [Int]) -> Int {
        var gain = -Self.cost - abs(move.count)
        let region = move.top...move.bottom
        for row in region {
            let source = region.contains(row + move.count) ? sources[row + move.count] : nil
            gain += costs[row] - screens.cost(of: row, from: source)
        }
        return gain
    }
}

/// The two buffers that are compared.
private struct Screens {
    let old: [Cell]
    let new: [Cell]
    let columns: Int

    /// About the bytes that a row costs when a row of the old buffer, or an empty one, is there.
    func cost(of row: Int, from source: Int?) -> Int {
        let start = row * columns
        var count = 0
        if let source {
            let from = source * columns
            for column in 0..<columns where new[start + column] != old[from + column] { count += 1 }
        } else {
            for column in 0..<columns where new[start + column] != .blank { count += 1 }
        }
        return count == 0 ? 0 : count + 6
    }

    func hash(_ cells: [Cell], _ row: Int) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for cell in cells[row * columns..<(row + 1) * columns] {
            hash = (hash ^ cell.word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
        }
        return hash
    }
}
