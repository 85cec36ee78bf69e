import TerminalKit

/// The rows of some parts that are seen: which is the first one, how many there are, and whether the end is followed.
struct PaneWindow: Sendable {
    typealias Position = PaneParts.Position

    /// A row of an item, as the first one that is seen.
    struct Top: Sendable, Hashable, Comparable {
        var item: Position
        /// How many rows of the item are above.
        var hidden: Int

        static func < (left: Top, right: Top) -> Bool { (left.item, left.hidden) < (right.item, right.hidden) }
    }

    /// The part of an item that is seen.
    struct Seen {
        let position: Position
        /// How many of its rows are above, how many are seen, and how many it has.
        let hidden: Int
        let count: Int
        let height: Int

        var isCutBelow: Bool { hidden + count < height }
    }

    private(set) var parts: PaneParts?
    /// The first row that is seen.
    private(set) var top = Top(item: Position(part: 0, item: 0), hidden: 0)
    /// How many rows there are.
    var rows = 1
    /// Whether what grows is followed at its end. Only the person changes that.
    var follows = true
    /// How far the growing section had come when the person left its end.
    private var endBefore = 0

    /// Whether it grows at its end.
    var grows: Bool { parts?.end != nil }

    /// How many entries came at the end since the person left it.
    var news: Int {
        guard !follows, let end = parts?.end else { return 0 }
        return max(0, end - endBefore)
    }

    /// Leaves the end of what grows, if it was followed.
    mutating func stopFollowing() {
        guard follows, let end = parts?.end else { return }
        follows = false
        endBefore = end
    }

    /// The parts, to be changed and put back. They are not copied then.
    mutating func withParts<Result>(_ body: (inout PaneParts) -> Result) -> Result? {
        guard var parts = take() else { return nil }
        defer { self.parts = parts }
        return body(&parts)
    }

    private mutating func take() -> PaneParts? {
        defer { parts = nil }
        return parts
    }
}

// MARK: Other parts

extension PaneWindow {
    /// Shows other parts, and keeps what is read where it is.
    ///
    /// - Parameter drawn: the items of the last drawing, for when the topmost one has vanished.
    mutating func show(_ new: PaneParts, drawn: [PaneParts.Anchor]) {
        let old = parts
        let anchor = old?.anchor(at: top.item)
        let wasAtStart = old == nil || isAtStart
        let before = top.hidden > 0 && old?.columns != new.columns ? height(of: top.item) : nil
        parts = new
        if wasAtStart, new.end == nil, let first = new.first {
            // What comes before the first row is seen as well.
            top = Top(item: first, hidden: 0)
        } else if let anchor, let position = new.position(of: anchor, near: top.item) {
            top.item = position
            // The rows of an item are others at another width.
            if let before, before > 0, let now = height(of: position) { top.hidden = top.hidden * now / before }
        } else {
            keepTop(without: anchor, drawn)
        }
    }

    /// Finds another first row after that item has vanished: what was below it, as far as it is still there.
    private mutating func keepTop(without anchor: PaneParts.Anchor?, _ drawn: [PaneParts.Anchor]) {
        guard let parts else { return }
        top.hidden = 0
        var anchors = drawn[...]
        if let anchor, let index = anchors.firstIndex(of: anchor) { anchors = anchors[(index + 1)...] }
        for next in anchors where next != anchor {
            if let position = parts.position(of: next, near: top.item) { return top.item = position }
        }
        if let position = parts.clamped(top.item) { top.item = position }
    }

    /// The same parts with another look, which changes no row but those that tell the time.
    mutating func setLook(_ look: PaneLook) { parts?.look = look }
}

// MARK: Rows

extension PaneWindow {
    /// How many rows an item has; nil if there is no such item.
    mutating func height(of item: Position) -> Int? {
        parts?.contains(item) == true ? parts?.height(at: item) : nil
    }

    /// The items that are seen, from the first row on.
    mutating func seen() -> [Seen] {
        let (top, rows) = (top, rows)
        return withParts { parts in
            var seen: [Seen] = []
            var left = rows
            var position = parts.clamped(top.item)
            var hidden = top.hidden
            while let place = position, left > 0 {
                let height = parts.height(at: place)
                hidden = min(hidden, height - 1)
                let count = min(left, height - hidden)
                seen.append(Seen(position: place, hidden: hidden, count: count, height: height))
                left -= count
                hidden = 0
                position = parts.next(place)
            }
            return seen
        } ?? []
    }

    /// The items that are seen, with the rows of them.
    mutating func shown() -> [(item: Seen, rows: [StyledText])] {
        let seen = seen()
        return withParts { parts in
            seen.map { ($0, parts.rows(at: $0.position, $0.hidden..<$0.hidden + $0.count)) }
        } ?? []
    }

    /// The first row that is seen if so many rows of an item are at the bottom.
    mutating func top(with rows: Int, atBottomOf item: Position) -> Top {
        var (place, height, left) = (item, rows, self.rows)
        while height < left {
            left -= height
            guard let before = parts?.previous(place) else { return Top(item: place, hidden: 0) }
            place = before
            height = self.height(of: before) ?? 1
        }
        return Top(item: place, hidden: height - left)
    }

    /// The first row that is seen if the last one is at the bottom.
    private mutating func endTop() -> Top? {
        parts?.last.map { top(with: height(of: $0) ?? 1, atBottomOf: $0) }
    }

    /// Whether the last row is seen.
    var isAtEnd: Bool {
        mutating get { endTop().map { $0 == top } ?? true }
    }

    /// Whether the first row is seen.
    var isAtStart: Bool { top.item == parts?.first && top.hidden == 0 }
}

// MARK: Scrolling

extension PaneWindow {
    /// Begins with a row.
    mutating func begin(at top: Top) { self.top = top }

    /// Begins with the first row.
    mutating func goToStart() { if let first = parts?.first { top = Top(item: first, hidden: 0) } }

    /// Ends with the last row.
    mutating func goToEnd() { if let end = endTop() { top = end } }

    /// Keeps the last row at the bottom, so that nobody scrolls into emptiness.
    private mutating func stopAtEnd() { if let end = endTop(), top >= end { top = end } }

    /// Moves the window to the end if the end is followed, and never beyond the last row.
    ///
    /// - Parameter item: what is to be seen as well; nil if nothing has to be.
    mutating func settle(showing item: Position? = nil) {
        guard let position = parts?.clamped(top.item), let height = height(of: position) else { return }
        top = Top(item: position, hidden: position == top.item ? min(top.hidden, height - 1) : 0)
        if follows && grows { return goToEnd() }
        if let item, !seen().contains(where: { $0.position == item }) { reveal(item, 0..<(self.height(of: item) ?? 1)) }
        stopAtEnd()
    }

    /// Scrolls as little as possible so that some rows of an item are seen, or the first of them.
    mutating func reveal(_ item: Position, _ rows: Range<Int>) {
        let start = Top(item: item, hidden: rows.lowerBound)
        if start < top { return top = start }
        let last = top(with: rows.upperBound, atBottomOf: item)
        if top < last { top = rows.count >= self.rows ? start : last }
    }

    /// Scrolls by rows, down by positive ones.
    mutating func scroll(by count: Int) {
        var left = count
        while left > 0, let height = height(of: top.item) {
            if top.hidden + left < height {
                top.hidden += left
                left = 0
            } else if let after = parts?.next(top.item) {
                left -= height - top.hidden
                top = Top(item: after, hidden: 0)
            } else {
                break
            }
        }
        while left < 0 {
            if top.hidden >= -left {
                top.hidden += left
                left = 0
            } else if let previous = parts?.previous(top.item), let height = height(of: previous) {
                left += top.hidden + 1
                top = Top(item: previous, hidden: height - 1)
            } else {
                top.hidden = 0
                break
            }
        }
        stopAtEnd()
    }
}
