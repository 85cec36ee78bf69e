import Capabilities
import TraceStore

/// A kind of work of any program.
struct WorkKind: Hashable {
    let name: String
    let feature: String
}

/// The spans of one trace with what they are in, gathered span by span.
struct SpanTree {
    struct Node {
        let id: SpanID
        let parent: SpanID?
        let start: Timestamp
        let duration: Duration
        let kind: WorkKind

        fileprivate var end: Timestamp { start + duration }
    }

    private(set) var nodes: [Node] = []

    /// Adds a span. They come in the order in which they began.
    mutating func add(_ span: TraceSpan) {
        nodes.append(
            Node(
                id: span.context.span, parent: span.parent, start: span.start, duration: span.duration,
                kind: WorkKind(name: span.name, feature: span.feature)))
    }

    mutating func removeAll() { nodes.removeAll(keepingCapacity: true) }

    /// For each span the place of the one around it. Spans that are around each other, as only a liar sends them, are in none.
    func parents() -> [Int?] {
        var places: [SpanID: Int] = Dictionary(minimumCapacity: nodes.count)
        for (place, node) in nodes.enumerated() { places[node.id] = place }
        var parents = nodes.map { node in node.parent.flatMap { places[$0] } }
        // Zero is not seen yet, and each way up from a span has a number.
        var seen = [Int](repeating: 0, count: nodes.count)
        for place in nodes.indices where seen[place] == 0 {
            var next = place
            while seen[next] == 0 {
                seen[next] = place + 1
                guard let parent = parents[next] else { break }
                if seen[parent] == place + 1 { parents[next] = nil } else { next = parent }
            }
        }
        return parents
    }

    /// How long each span ran without any of those in it, which may run side by side.
    func own(_ parents: [Int?]) -> [Duration] {
        var filled = [(time: Duration, end: Timestamp)](
            repeating: (.zero, Timestamp(microseconds: .min)), count: nodes.count)
        for (node, parent) in zip(nodes, parents) {
            guard let parent else { continue }
            let start = max(node.start, nodes[parent].start, filled[parent].end)
            let end = min(node.end, nodes[parent].end)
            guard end > start else { continue }
            filled[parent] = (filled[parent].time + (end - start), end)
        }
        return zip(nodes, filled).map { max(.zero, $0.duration - $1.time) }
    }
}
