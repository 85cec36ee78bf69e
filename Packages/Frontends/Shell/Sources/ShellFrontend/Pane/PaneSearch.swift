/// A search in a pane: what for, and where it was found last. It looks for the next place; the pane opens what is folded,
/// and goes there.
struct PaneSearch: Sendable {
    typealias Position = PaneParts.Position
    typealias Anchor = PaneParts.Anchor

    /// How the search goes on.
    enum Step {
        /// The text is in a row of an item, or in what all of its rows leave out.
        case found(Position, row: Int)
        /// Something has to be opened first.
        case folded(Folded)
    }

    /// An item that has the text in itself or below it, and does not show it.
    struct Folded {
        let item: Position
        /// Whether the text is in other items, which are below this one.
        fileprivate let isBelow: Bool
        /// The item after all of these.
        fileprivate let after: Anchor?
    }

    /// What is searched for; empty if nothing is.
    let text: String
    let wanted: SearchText
    /// Where it was found: the item, and the row in it.
    var found: (anchor: Anchor, row: Int)?

    init(_ text: String = "", found: (anchor: Anchor, row: Int)? = nil) {
        (self.text, self.found) = (text, text.isEmpty ? nil : found)
        wanted = SearchText(text)
    }

    /// The next or the previous place; nil if it is nowhere.
    ///
    /// - Parameters:
    ///   - selected: the selected item, to begin with if it is seen and nothing was found before.
    ///   - fromHere: whether the place where the search begins counts too.
    func next(
        from selected: Position?, forward isForward: Bool, fromHere: Bool, in window: inout PaneWindow
    ) -> Step? {
        guard !text.isEmpty, let start = start(selected, in: &window), let parts = window.parts else { return nil }
        // Other rows of the same item come first.
        let rows = rows(at: start.item, in: &window)
        let row =
            isForward ? rows.first { $0 > start.row || fromHere && $0 == start.row } : rows.last { $0 < start.row }
        if let row { return .found(start.item, row: row) }
        let hasMore = isForward && parts.isFoldedAway(wanted, below: start.item)
        let from = fromHere || hasMore ? start.item : parts.step(start.item, down: isForward)
        let turned = isForward ? parts.first : parts.last
        let next =
            from.flatMap { parts.next(wanted, from: $0, forward: isForward) }
            ?? turned.flatMap { parts.next(wanted, from: $0, forward: isForward) }
        return next.flatMap { step(to: $0, isForward, skipsOwn: hasMore && $0 == start.item, in: &window) }
    }

    /// How it goes on when a folded item was opened; nil if the text is gone.
    func next(after folded: Folded, forward isForward: Bool, in window: inout PaneWindow) -> Step? {
        guard let parts = window.parts else { return nil }
        guard folded.isBelow else { return place(in: folded.item, isForward, rows(at: folded.item, in: &window)) }
        let last = folded.after.flatMap { parts.position(of: $0, near: folded.item) }.flatMap { parts.previous($0) }
        let start = isForward ? parts.next(folded.item) : last ?? parts.last
        let next = start.flatMap { parts.next(wanted, from: $0, forward: isForward) }
        return next.flatMap { step(to: $0, isForward, skipsOwn: false, in: &window) }
    }

    /// The item to search from, and the row in it: where a text was found before, or the selected item, or else the
    /// first that is seen.
    private func start(_ selected: Position?, in window: inout PaneWindow) -> (item: Position, row: Int)? {
        let seen = window.seen().map(\.position)
        if let found, let place = window.parts?.position(of: found.anchor, near: window.top.item),
            seen.contains(place)
        {
            return (place, found.row)
        }
        if let selected, seen.contains(selected) { return (selected, 0) }
        return seen.first.map { ($0, 0) }
    }

    /// Goes to an item that has the text in itself, or below it.
    ///
    /// - Parameter skipsOwn: whether only what is below it counts.
    private func step(
        to item: Position, _ isForward: Bool, skipsOwn: Bool, in window: inout PaneWindow
    ) -> Step? {
        guard let parts = window.parts else { return nil }
        if parts.isFoldedAway(wanted, below: item), !isForward || skipsOwn || !parts.isIn(wanted, item) {
            let after = parts.next(item).flatMap { parts.anchor(at: $0) }
            return .folded(Folded(item: item, isBelow: true, after: after))
        }
        let rows = rows(at: item, in: &window)
        if rows.isEmpty, window.withParts({ $0.isFolded(at: item) }) == true {
            return .folded(Folded(item: item, isBelow: false, after: nil))
        }
        return place(in: item, isForward, rows)
    }

    private func place(in item: Position, _ isForward: Bool, _ rows: [Int]) -> Step {
        .found(item, row: (isForward ? rows.first : rows.last) ?? 0)
    }

    /// The rows of an item with the text; none if they leave it out.
    private func rows(at item: Position, in window: inout PaneWindow) -> [Int] {
        guard let height = window.height(of: item) else { return [] }
        return window.withParts { wanted.rows(in: $0.rows(at: item, 0..<height)) } ?? []
    }
}

extension PaneParts {
    /// Whether an item's own text contains another.
    fileprivate func isIn(_ search: SearchText, _ position: Position) -> Bool {
        search.isIn(section(at: position).text(of: position.item, look))
    }
}
