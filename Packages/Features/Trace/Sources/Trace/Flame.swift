import Capabilities
import TraceStore

/// Where the time of traces went: what was done in the same work is one frame, however often it was done.
struct Flame {
    /// What others send may have any number of names.
    static let mostFrames = 10_000

    private struct Frame {
        let kind: WorkKind
        let parent: Int?
        var count = 0
        var failures = 0
        var time = Duration.zero
        var own = Duration.zero
        var children: [Int] = []
    }

    private struct Key: Hashable {
        let kind: WorkKind
        let parent: Int?
    }

    private let mostFrames: Int
    private var frames: [Frame] = []
    private var places: [Key: Int] = [:]
    private var trace: TraceID?
    private var tree = SpanTree()
    private var failures: Set<Int> = []
    private(set) var traces = 0
    /// The spans that are in no frame, because there are too many.
    private(set) var leftOut = 0

    init(mostFrames: Int = Self.mostFrames) {
        self.mostFrames = mostFrames
    }

    /// Adds a span. They come trace by trace, in the order in which they began.
    mutating func add(_ span: TraceSpan) {
        if trace != span.context.trace {
            merge()
            trace = span.context.trace
            traces += 1
        }
        if span.failure != nil { failures.insert(tree.nodes.count) }
        tree.add(span)
    }

    /// The frames, each below the one around it, the one that took longest first.
    mutating func rows() -> [FlameRow] {
        merge()
        let top = frames.indices.filter { frames[$0].parent == nil }
        let whole = top.reduce(.zero) { $0 + frames[$1].time }
        var rows: [FlameRow] = []
        rows.reserveCapacity(frames.count)
        // Not recursive, because what others send may be nested without end.
        var waiting: [(place: Int, depth: Int, part: FlamePart)] = []
        func wait(for places: [Int], _ depth: Int, in part: FlamePart, of time: Duration) {
            let sorted = places.sorted {
                (frames[$0].time, frames[$1].kind.name) > (frames[$1].time, frames[$0].kind.name)
            }
            // Those that ran side by side share the width of the one around them.
            let total = max(time, places.reduce(.zero) { $0 + frames[$1].time })
            var start = part.start
            var parts: [(Int, Int, FlamePart)] = []
            for place in sorted {
                let width = total > .zero ? part.width * (frames[place].time / total) : 0
                parts.append((place, depth, FlamePart(start: start, width: width)))
                start += width
            }
            waiting += parts.reversed()
        }
        wait(for: top, 0, in: FlamePart(start: 0, width: 1), of: whole)
        while let (place, depth, part) = waiting.popLast() {
            let frame = frames[place]
            rows.append(
                FlameRow(
                    number: rows.count + 1, kind: frame.kind, depth: depth, part: part,
                    share: whole > .zero ? frame.time / whole : 0,
                    time: frame.time, own: frame.own, count: frame.count, failures: frame.failures))
            wait(for: frame.children, depth + 1, in: part, of: frame.time)
        }
        return rows
    }

    /// Puts the spans of the trace so far into frames.
    private mutating func merge() {
        let parents = tree.parents()
        let own = tree.own(parents)
        // A span may begin before the one around it if their clocks differ, so that the outer ones come first here.
        var frame = [Int?](repeating: nil, count: parents.count)
        var isPlaced = [Bool](repeating: false, count: parents.count)
        for place in parents.indices {
            var way: [Int] = []
            var next: Int? = place
            while let outer = next, !isPlaced[outer] {
                way.append(outer)
                next = parents[outer]
            }
            for place in way.reversed() {
                isPlaced[place] = true
                frame[place] = merge(place, own[place], in: parents[place].map { frame[$0] })
            }
        }
        tree.removeAll()
        failures.removeAll()
    }

    /// - Parameter outer: the frame of the span around it; nil if there is no such span, and nil in it if that is in no frame.
    private mutating func merge(_ place: Int, _ own: Duration, in outer: Int??) -> Int? {
        let parent: Int?
        switch outer {
        case .none: parent = nil
        case .some(.none):
            leftOut += 1
            return nil
        case .some(.some(let frame)): parent = frame
        }
        let node = tree.nodes[place]
        let key = Key(kind: node.kind, parent: parent)
        if places[key] == nil {
            guard frames.count < mostFrames else {
                leftOut += 1
                return nil
            }
            places[key] = frames.count
            if let parent { frames[parent].children.append(frames.count) }
            frames.append(Frame(kind: node.kind, parent: parent))
        }
        guard let frame = places[key] else { return nil }
        frames[frame].count += 1
        if failures.contains(place) { frames[frame].failures += 1 }
        frames[frame].time += node.duration
        frames[frame].own += own
        return frame
    }
}

/// The part of the whole width that a frame takes, from 0 to 1.
struct FlamePart: Hashable {
    let start: Double
    let width: Double

    /// As characters, at least one of which is the frame's.
    func bar(_ columns: Int) -> String {
        let first = min(columns - 1, max(0, Int((start * Double(columns)).rounded())))
        let end = min(columns, max(first + 1, Int(((start + width) * Double(columns)).rounded())))
        return String(repeating: "·", count: first) + String(repeating: "━", count: end - first)
            + String(repeating: "·", count: columns - end)
    }
}

/// A frame in a list.
struct FlameRow: Record {
    let number: Int
    let kind: WorkKind
    let depth: Int
    let part: FlamePart
    /// The part of the time of all traces.
    let share: Double
    let time: Duration
    let own: Duration
    let count: Int
    let failures: Int

    static let fields: [Field<FlameRow>] = [
        Field("name", "Kind of work, below the one around it", .name) {
            String(repeating: "  ", count: min($0.depth, Waterfall.deepest))
                + PlainText.escape($0.kind.name, limit: 200)
        },
        Field("bar", "Its time, as a part of the bar of the line around it") { $0.part.bar(24) },
        Field("percent", "Its part of the time of all traces") { ($0.share * 1000).rounded() / 10 },
        Field("time", "Time of all together") { $0.time },
        Field("own", "Time without that of the work below it") { $0.own },
        Field("count", "How often it was done") { $0.count },
        Field("failures", "How often it failed", .minor) { $0.failures },
        Field("feature", "Feature that did it", .detail) { PlainText.escape($0.kind.feature, limit: 100) },
        Field("depth", "How many kinds of work are around it", .detail) { $0.depth },
        Field("frame", "Its number in the list", .detail) { $0.number },
    ]
}
