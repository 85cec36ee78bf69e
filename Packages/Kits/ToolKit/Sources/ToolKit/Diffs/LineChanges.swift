/// Lines of the old text that lines of the new one took the place of; one of both may be none.
struct LineChange: Sendable, Equatable {
    var old: Range<Int>
    var new: Range<Int>
}

/// What has to be removed and added to get from one text to another: little, and the least where that is cheap to find.
///
/// Lines that stand in one of the texts alone need no search. For the rest it is Myers' algorithm in linear space ("An
/// O(ND) Difference Algorithm and Its Variations"), with limits, since texts that have nothing in common would take the
/// square of their length.
struct LineChanges: Sendable {
    private(set) var list: [LineChange] = []

    init(from old: TextLines, to new: TextLines) {
        var numbering = LineNumbering()
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

    /// Which of the lines stand in the other text too; the others are marked.
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

    /// Moves lines that were only added, or only removed, down as far as the text stays the same: people expect a new
    /// function with the brace that closes it and not with the one before.
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
