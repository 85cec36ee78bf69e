import Capabilities
import JSON
import TraceStore

/// The spans of a trace as lines: each below the one around it, with a bar for when it ran.
struct Waterfall {
    let rows: [WaterfallRow]

    /// Deeper spans are shown at this depth.
    static let deepest = 12

    /// Takes the spans in the order in which they began.
    init(_ spans: [StoredSpan]) {
        guard var bars = WaterfallBars(spans) else {
            rows = []
            return
        }
        // Places instead of spans, since each copy of a span counts a reference to every part of it.
        let tree = WaterfallTree(spans)
        var rows: [WaterfallRow] = []
        rows.reserveCapacity(spans.count)
        var isShown = [Bool](repeating: false, count: spans.count)
        func show(_ place: Int, _ depth: Int) {
            isShown[place] = true
            let stored = spans[place]
            rows.append(
                WaterfallRow(
                    stored: stored, depth: min(depth, Self.deepest), after: stored.span.start - bars.first,
                    bar: bars.bar(stored.span)))
        }
        // Not recursive, because what others send may be nested without end.
        var waiting: [(place: Int, depth: Int)] = []
        tree.forEachTop { waiting.append(($0, 0)) }
        while let (place, depth) = waiting.popLast() {
            show(place, depth)
            tree.forEach(in: place) { waiting.append(($0, depth + 1)) }
        }
        // Spans that are around each other, as only a liar sends them, are shown all the same.
        for place in spans.indices where !isShown[place] && !tree.isRepeated(place) { show(place, 0) }
        self.rows = rows
    }
}

/// Which spans are in which, by their places in the order in which they began.
private struct WaterfallTree {
    /// For each span the newest one in it, and for each the one before it in the same span; -1 for none.
    private var newest: [Int]
    private var older: [Int]
    private var newestTop = -1
    private var repeated: Set<Int> = []

    init(_ spans: [StoredSpan]) {
        newest = Array(repeating: -1, count: spans.count)
        older = newest
        var places: [SpanID: Int] = Dictionary(minimumCapacity: spans.count)
        for place in spans.indices {
            let id = spans[place].span.context.span
            if places[id] == nil { places[id] = place } else { repeated.insert(place) }
        }
        for place in spans.indices where !repeated.contains(place) {
            // The parent may belong to another program, or not be recorded.
            if let parent = spans[place].span.parent.flatMap({ places[$0] }), parent != place {
                (older[place], newest[parent]) = (newest[parent], place)
            } else {
                (older[place], newestTop) = (newestTop, place)
            }
        }
    }

    /// Whether an earlier span has the same id.
    func isRepeated(_ place: Int) -> Bool { repeated.contains(place) }

    /// Those that are in no other, the newest first.
    func forEachTop(_ body: (Int) -> Void) { forEach(from: newestTop, body) }

    /// Those in a span, the newest first.
    func forEach(in place: Int, _ body: (Int) -> Void) { forEach(from: newest[place], body) }

    private func forEach(from newest: Int, _ body: (Int) -> Void) {
        var place = newest
        while place >= 0 {
            body(place)
            place = older[place]
        }
    }
}

/// The bars of spans in a trace. There are few different ones, each of which is made once.
private struct WaterfallBars {
    /// The characters of a whole bar.
    private static let columns = 24

    /// When the trace began.
    let first: Timestamp
    private let whole: Duration
    private var made: [Int: String] = [:]

    /// - Returns: nil if there are no spans.
    init?(_ spans: [StoredSpan]) {
        guard var first = spans.first?.span.start, var last = spans.first?.span.end else { return nil }
        for stored in spans {
            first = min(first, stored.span.start)
            last = max(last, stored.span.end)
        }
        (self.first, whole) = (first, last - first)
    }

    mutating func bar(_ span: TraceSpan) -> String {
        guard whole > .zero else { return bar(0, Self.columns) }
        let columns = Double(Self.columns)
        let start = min(Self.columns - 1, max(0, Int((span.start - first) / whole * columns)))
        let length = max(1, Int((span.duration / whole * columns).rounded()))
        return bar(start, min(length, Self.columns - start))
    }

    private mutating func bar(_ start: Int, _ length: Int) -> String {
        let key = start * (Self.columns + 1) + length
        if let bar = made[key] { return bar }
        let bar =
            String(repeating: "·", count: start) + String(repeating: "━", count: length)
            + String(repeating: "·", count: Self.columns - start - length)
        made[key] = bar
        return bar
    }
}

/// A span in a waterfall.
struct WaterfallRow: Record {
    let stored: StoredSpan
    let depth: Int
    let after: Duration
    let bar: String

    static let fields: [Field<WaterfallRow>] = [
        Field("name", "Name of the span, below the one around it", .name) {
            String(repeating: "  ", count: $0.depth) + PlainText.escape($0.stored.span.name, limit: 200)
        },
        Field("bar", "When it ran in the whole trace") { $0.bar },
        Field("after", "How long after the beginning of the trace it began") { $0.after },
        Field("duration", "How long it took") { $0.stored.span.duration },
        Field("state", "ok, or the code of the error", .state) { PlainText.escape($0.stored.span.failure ?? "ok") },
        Field("feature", "Feature that did it", .minor) { PlainText.escape($0.stored.span.feature) },
        Field("span", "Id of the span", .minor) { $0.stored.span.context.span.description },
        Field("parent", "Id of the span around it", .detail) { $0.stored.span.parent?.description },
        Field("trace", "Id of its trace", .detail) { $0.stored.span.context.trace.description },
        Field("depth", "How many spans are around it", .detail) { $0.depth },
        Field("attributes", "Facts about it", .detail) { JSON.object($0.stored.span.attributes) },
    ]
}
