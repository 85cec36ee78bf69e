import HTTPCore

/// Finds the route of a path: a tree of its segments, in which a word goes before a name in braces, and that before the
/// rest of a path.
struct Router: Sendable {
    enum Match {
        case route(Int, values: [String])
        /// The path exists, but not with this method.
        case otherMethod(allowed: [HTTPMethod])
        case nothing
        /// The path is malformed, or tries to climb.
        case refused
    }

    private struct Node: Sendable {
        var words: [String: Int] = [:]
        var name: Int?
        var rest: Int?
        /// The routes that end here, by their method.
        var routes: [(method: HTTPMethod, index: Int)] = []
    }

    private var nodes = [Node()]
    /// Paths without names, found in one step.
    private var plain: [String: Int] = [:]

    /// False when another route has the same method and the same shape.
    mutating func add(_ method: HTTPMethod, _ template: PathTemplate, _ index: Int) -> Bool {
        var place = 0
        for segment in template.segments {
            place = step(from: place, segment)
        }
        guard !nodes[place].routes.contains(where: { $0.method == method }) else { return false }
        nodes[place].routes.append((method, index))
        if template.names.isEmpty { plain[template.text] = place }
        return true
    }

    private mutating func step(from place: Int, _ segment: PathTemplate.Segment) -> Int {
        let existing: Int?
        switch segment {
        case .word(let word): existing = nodes[place].words[word]
        case .name: existing = nodes[place].name
        case .rest: existing = nodes[place].rest
        }
        if let existing { return existing }
        nodes.append(Node())
        let next = nodes.count - 1
        switch segment {
        case .word(let word): nodes[place].words[word] = next
        case .name: nodes[place].name = next
        case .rest: nodes[place].rest = next
        }
        return next
    }

    func match(_ method: HTTPMethod, _ path: String) -> Match {
        if let place = plain[path] { return answer(place, method, []) }
        guard path.utf8.first == Byte.slash else { return .nothing }
        var segments: [String] = []
        for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let segment = PercentDecoding.decode(part), segment != ".", segment != ".." else { return .refused }
            segments.append(segment)
        }
        var best: Match?
        find(0, segments[...], [], method, &best)
        return best ?? .nothing
    }

    /// Walks every way that fits until one ends in a route with the method.
    private func find(
        _ place: Int, _ segments: ArraySlice<String>, _ values: [String], _ method: HTTPMethod, _ best: inout Match?
    ) {
        if case .route = best { return }
        guard let segment = segments.first else { return improve(&best, answer(place, method, values)) }
        if let next = nodes[place].words[segment] { find(next, segments.dropFirst(), values, method, &best) }
        if let next = nodes[place].name, Self.climbs(segment) {
            // Nobody needs such a name, and a handler that makes a path of it would leave its folder.
            if !nodes[next].routes.isEmpty || segments.count > 1 { improve(&best, .refused) }
        } else if let next = nodes[place].name, !segment.isEmpty {
            find(next, segments.dropFirst(), values + [segment], method, &best)
        }
        guard let next = nodes[place].rest else { return }
        // A slash that was escaped is part of a name and no border, which a path on a disk cannot express.
        guard !segments.contains(where: { $0.utf8.contains(Byte.slash) }) else { return improve(&best, .refused) }
        improve(&best, answer(next, method, values + [segments.joined(separator: "/")]))
    }

    /// Whether a name has escaped slashes that make it a path which leads out of a folder. One with harmless slashes is a
    /// name: models have them.
    private static func climbs(_ segment: String) -> Bool {
        guard segment.utf8.contains(Byte.slash) else { return false }
        return segment.utf8.split(separator: Byte.slash, omittingEmptySubsequences: false).contains { part in
            part.isEmpty || part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8)
        }
    }

    private func improve(_ best: inout Match?, _ found: Match) {
        switch (best, found) {
        case (.route, _), (_, .nothing): break
        case (.otherMethod(let before), .otherMethod(let more)):
            best = .otherMethod(allowed: before + more.filter { !before.contains($0) })
        case (.otherMethod, .refused): break
        default: best = found
        }
    }

    private func answer(_ place: Int, _ method: HTTPMethod, _ values: [String]) -> Match {
        let routes = nodes[place].routes
        if routes.isEmpty { return .nothing }
        if let found = routes.first(where: { $0.method == method }) { return .route(found.index, values: values) }
        if method == .head, let found = routes.first(where: { $0.method == .get }) {
            return .route(found.index, values: values)
        }
        var allowed = routes.map(\.method)
        if allowed.contains(.get), !allowed.contains(.head) { allowed.append(.head) }
        return .otherMethod(allowed: allowed + [.options])
    }
}
