/// Lines of the old text, and the lines of the new text that replace them. One of both may be empty.
struct LineChange: Sendable, Equatable {
    var old: Range<Int>
    var new: Range<Int>
}

/// The lines to remove and add to get from one text to another: few, and the minimum if that is cheap to find.
///
/// Lines that occur in only one of the texts need no search. For the rest it uses Myers' algorithm in linear space ("An
/// O(ND) Difference Algorithm and Its Variations"), with limits, because for texts with nothing in common it would take
/// quadratic time.
struct LineChanges: Sendable {
    private(set) var list: [LineChange] = []

    init(from old: TextLines, to new: TextLines) {
        var numbering = LineNumberer()
        let (old, new) = (numbering.numbers(of: old), numbering.numbers(of: new))
        var removed = [Bool](repeating: false, count: old.count)
        var added = [Bool](repeating: false, count: new.count)
        let oldCommon = Self.common(old, with: new, numbering.count, marking: &removed)
        let newCommon = Self.common(new, with: old, numbering.count, marking: &added)
        var search = PathSearch(from: oldCommon.map { old[$0] }, to: newCommon.map { new[$0] })
        search.run()
        for (place, index) in oldCommon.enumerated() where search.removed[place] { removed[index] = true }
        for (place, index) in newCommon.enumerated() where search.added[place] { added[index] = true }
        collect(removed, added)
        slide(old, new)
    }

    /// The lines that also occur in the other text. The others are marked as changed.
    private static func common(
        _ lines: [Int32], with others: [Int32], _ count: Int, marking changed: inout [Bool]
    ) -> [Int] {
        var isThere = [Bool](repeating: false, count: count)
        for number in others { isThere[Int(number)] = true }
        var common: [Int] = []
        for (index, number) in lines.enumerated() {
            if isThere[Int(number)] { common.append(index) } else { changed[index] = true }
        }
        return common
    }

    private mutating func collect(_ removed: [Bool], _ added: [Bool]) {
        var (old, new) = (0, 0)
        while old < removed.count || new < added.count {
            let start = (old, new)
            while old < removed.count, removed[old] { old += 1 }
            while new < added.count, added[new] { new += 1 }
            if (old, new) == start {
                old += 1
                new += 1
            } else {
                list.append(LineChange(old: start.0..<old, new: start.1..<new))
            }
        }
    }

    /// Moves added or removed lines down as far as the text stays the same. People expect a new function together with
    /// its own closing brace, not the previous one.
    private mutating func slide(_ old: [Int32], _ new: [Int32]) {
        for index in list.indices.reversed() {
            var change = list[index]
            guard change.old.isEmpty || change.new.isEmpty else { continue }
            let limit = index + 1 < list.count ? list[index + 1].old.lowerBound : old.count
            let (lines, range) = change.old.isEmpty ? (new, change.new) : (old, change.old)
            var distance = 0
            while change.old.upperBound + distance < limit,
                lines[range.lowerBound + distance] == lines[range.upperBound + distance]
            { distance += 1 }
            change.old = (change.old.lowerBound + distance)..<(change.old.upperBound + distance)
            change.new = (change.new.lowerBound + distance)..<(change.new.upperBound + distance)
            list[index] = change
            guard index + 1 < list.count, change.old.upperBound == limit else { continue }
            let next = list.remove(at: index + 1)
            list[index].old = change.old.lowerBound..<next.old.upperBound
            list[index].new = change.new.lowerBound..<next.new.upperBound
        }
    }
}

/// Finds a short path through the grid of two texts: right removes a line, down adds one, and a diagonal keeps a common
/// one. The shortest path is searched from both ends at once. Where they meet, the grid is split into two smaller ones.
struct PathSearch {
    /// The number of edits from each end after which the shortest path is no longer searched. The search then continues
    /// from the furthest places.
    private static let largestCost = 256
    /// The maximum number of steps. After that the rest counts as changed.
    private static let largestEffort = 20_000_000

    private struct Box {
        var old: Range<Int>
        var new: Range<Int>
    }

    private let old: [Int32]
    private let new: [Int32]
    private(set) var removed: [Bool]
    private(set) var added: [Bool]
    /// The furthest place on each diagonal, as a number of old lines, from the beginning and from the end.
    private var forward: [Int]
    private var backward: [Int]
    private var effort = 0

    init(from old: [Int32], to new: [Int32]) {
        self.old = old
        self.new = new
        removed = [Bool](repeating: false, count: old.count)
        added = [Bool](repeating: false, count: new.count)
        forward = [Int](repeating: 0, count: 2 * Self.largestCost + 5)
        backward = forward
    }

    mutating func run() {
        var boxes = [Box(old: 0..<old.count, new: 0..<new.count)]
        while var box = boxes.popLast() {
            trim(&box)
            if box.old.isEmpty || box.new.isEmpty || effort > Self.largestEffort {
                for index in box.old { removed[index] = true }
                for index in box.new { added[index] = true }
            } else {
                let (x, y) = meet(in: box)
                let (middleOld, middleNew) = (box.old.lowerBound + x, box.new.lowerBound + y)
                boxes.append(Box(old: box.old.lowerBound..<middleOld, new: box.new.lowerBound..<middleNew))
                boxes.append(Box(old: middleOld..<box.old.upperBound, new: middleNew..<box.new.upperBound))
            }
        }
    }

    /// Removes the common beginning and end.
    private func trim(_ box: inout Box) {
        var (low, high) = ((box.old.lowerBound, box.new.lowerBound), (box.old.upperBound, box.new.upperBound))
        while low.0 < high.0, low.1 < high.1, old[low.0] == new[low.1] { low = (low.0 + 1, low.1 + 1) }
        while low.0 < high.0, low.1 < high.1, old[high.0 - 1] == new[high.1 - 1] { high = (high.0 - 1, high.1 - 1) }
        box = Box(old: low.0..<high.0, new: low.1..<high.1)
    }

    /// A place on a short path through the box, relative to its beginning; neither its beginning nor its end.
    private mutating func meet(in box: Box) -> (x: Int, y: Int) {
        let (width, height) = (box.old.count, box.new.count)
        let shift = width - height
        let isOdd = shift & 1 != 0
        let limit = Self.largestCost
        let none = -1
        // Diagonals are counted from the one where the search begins. Index 0 is diagonal -(limit + 2).
        let zero = limit + 2
        let reach = min(limit, width + height) + 2
        for index in (zero - reach)...(zero + reach) { (forward[index], backward[index]) = (none, none) }
        for cost in 0...limit {
            for diagonal in stride(from: -cost, through: cost, by: 2) {
                // Stay inside the grid.
                guard diagonal <= width, diagonal >= -height else { continue }
                var x = cost == 0 ? 0 : none
                let (left, above) = (forward[zero + diagonal - 1], forward[zero + diagonal + 1])
                if left != none, left < width { x = left + 1 }
                if above != none, above - diagonal <= height { x = max(x, above) }
                guard x != none else {
                    forward[zero + diagonal] = none
                    continue
                }
                let start = x
                while x < width, x - diagonal < height,
                    old[box.old.lowerBound + x] == new[box.new.lowerBound + x - diagonal]
                { x += 1 }
                effort += x - start + 1
                forward[zero + diagonal] = x
                let other = shift - diagonal
                if isOdd, abs(other) < cost, backward[zero + other] != none, x >= width - backward[zero + other] {
                    return (x, x - diagonal)
                }
            }
            // The same from the end, where x counts the old lines after a place.
            for diagonal in stride(from: -cost, through: cost, by: 2) {
                guard diagonal <= width, diagonal >= -height else { continue }
                var x = cost == 0 ? 0 : none
                let (right, below) = (backward[zero + diagonal - 1], backward[zero + diagonal + 1])
                if right != none, right < width { x = right + 1 }
                if below != none, below - diagonal <= height { x = max(x, below) }
                guard x != none else {
                    backward[zero + diagonal] = none
                    continue
                }
                let start = x
                while x < width, x - diagonal < height,
                    old[box.old.upperBound - 1 - x] == new[box.new.upperBound - 1 - (x - diagonal)]
                { x += 1 }
                effort += x - start + 1
                backward[zero + diagonal] = x
                let other = shift - diagonal
                if !isOdd, abs(other) <= cost, forward[zero + other] != none, width - x <= forward[zero + other] {
                    return (width - x, height - (x - diagonal))
                }
            }
        }
        return furthest(width, height, zero)
    }

    /// The furthest place of all paths, from either end.
    private func furthest(_ width: Int, _ height: Int, _ zero: Int) -> (x: Int, y: Int) {
        var best = (length: -1, x: 0, y: 0)
        for index in forward.indices {
            let diagonal = index - zero
            if case let x = forward[index], x >= 0, 2 * x - diagonal > best.length {
                best = (2 * x - diagonal, x, x - diagonal)
            }
            if case let x = backward[index], x >= 0, 2 * x - diagonal > best.length {
                best = (2 * x - diagonal, width - x, height - (x - diagonal))
            }
        }
        return (best.x, best.y)
    }
}
