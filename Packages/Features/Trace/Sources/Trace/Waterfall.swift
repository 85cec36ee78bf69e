import Capabilities
import JSON
import TraceStore

/// The spans of a trace as lines: each below the one around it, with a bar for when it ran.
struct Waterfall {
    let rows: [WaterfallRow]

    /// The characters of a whole bar.
    private static let columns = 24
    /// Deeper spans are shown at this depth.
    private static let deepest = 12

    /// Takes the spans in the order in which they began.
    init(_ spans: [StoredSpan]) {
        guard let first = spans.map(\.span.start).min(), let last = spans.map(\.span.end).max() else {
            rows = []
            return
        }
        let known = Set(spans.map(\.span.context.span))
        var children: [SpanID?: [StoredSpan]] = [:]
        for stored in spans {
            // What is around a span may be in another program, or not recorded.
            let parent = stored.span.parent.flatMap { known.contains($0) && $0 != stored.span.context.span ? $0 : nil }
            children[parent, default: []].append(stored)
        }
        let whole = last - first
        var rows: [WaterfallRow] = []
        var seen: Set<SpanID> = []
        // Not recursive, because what others send may be nested without end.
        var waiting = (children[nil] ?? []).reversed().map { ($0, 0) }
        while let (stored, depth) = waiting.popLast() {
            guard seen.insert(stored.span.context.span).inserted else { continue }
            rows.append(
                WaterfallRow(
                    stored: stored, depth: min(depth, Self.deepest), after: stored.span.start - first,
                    bar: Self.bar(stored.span, from: first, whole)))
            waiting += (children[stored.span.context.span] ?? []).reversed().map { ($0, depth + 1) }
        }
        // Spans that are around each other, as only a liar sends them, are shown all the same.
        for stored in spans where seen.insert(stored.span.context.span).inserted {
            rows.append(
                WaterfallRow(
                    stored: stored, depth: 0, after: stored.span.start - first,
                    bar: Self.bar(stored.span, from: first, whole)))
        }
        self.rows = rows
    }

    private static func bar(_ span: TraceSpan, from first: Timestamp, _ whole: Duration) -> String {
        guard whole > .zero else { return String(repeating: "━", count: columns) }
        let start = min(columns - 1, max(0, Int((span.start - first) / whole * Double(columns))))
        let length = max(1, Int((span.duration / whole * Double(columns)).rounded()))
        let shown = min(length, columns - start)
        return String(repeating: "·", count: start) + String(repeating: "━", count: shown)
            + String(repeating: "·", count: columns - start - shown)
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
        Field("depth", "How many spans are around it", .detail) { $0.depth },
        Field("attributes", "Facts about it", .detail) { JSON.object($0.stored.span.attributes) },
    ]
}
