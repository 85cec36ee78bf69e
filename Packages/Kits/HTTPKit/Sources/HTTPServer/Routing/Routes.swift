public import Capabilities
import HTTPCore
public import JSON

/// A route with its path, shared by all requests for it.
final class RouteEntry: Sendable {
    let route: Route
    let template: PathTemplate
    let declaresBody: Bool

    init(_ route: Route, _ template: PathTemplate) {
        self.route = route
        self.template = template
        declaresBody = route.inputs.contains { $0.place == .body }
    }
}

/// All routes of a server, checked for conflicts.
public struct Routes: Sendable {
    /// In the order in which they were given.
    public let all: [Route]
    let entries: [RouteEntry]
    private let router: Router

    /// Throws `.routes` for invalid or conflicting routes, which is an error in the program, found at its start.
    public init(_ routes: [Route]) throws(ServerError) {
        var router = Router()
        var entries: [RouteEntry] = []
        var problems: [String] = []
        var ids: Set<String> = []
        for (index, route) in routes.enumerated() {
            let name = "\(route.method) \(route.template)"
            guard let template = PathTemplate(route.template) else {
                problems.append("\(name) has a malformed path")
                continue
            }
            entries.append(RouteEntry(route, template))
            if !router.add(route.method, template, index) { problems.append("\(name) is declared twice") }
            if !ids.insert(route.id).inserted {
                problems.append("\(name) has the id \(route.id) of another route")
            }
            problems += Self.contradictions(route, template).map { "\(name) \($0)" }
        }
        guard problems.isEmpty else {
            throw ServerError(.routes, "the routes are not valid: " + problems.joined(separator: "; "))
        }
        all = routes
        self.entries = entries
        self.router = router
    }

    private static func contradictions(_ route: Route, _ template: PathTemplate) -> [String] {
        var found: [String] = []
        let declared = route.inputs.filter { $0.place == .path }.map(\.name)
        for name in template.names where !declared.contains(name) { found.append("does not declare {\(name)}") }
        for name in declared where !template.names.contains(name) { found.append("declares \(name), not in its path") }
        if route.inputs.count(where: { $0.place == .body || $0.place == .upload }) > 1 {
            found.append("has two bodies")
        }
        if route.summary.isEmpty || route.summary.hasSuffix(".") {
            found.append("needs a summary of one line without a final stop")
        }
        var names: Set<String> = []
        for input in route.inputs where !names.insert(input.place.rawValue + ":" + input.name).inserted {
            found.append("declares \(input.name) twice")
        }
        return found
    }

    /// Finds the route of a method and a path.
    func match(_ method: HTTPMethod, _ path: String) -> Router.Match {
        router.match(method, path)
    }

    /// The OpenAPI 3.1 document of all routes that are not hidden. `problem` is the schema of a custom envelope.
    public func openAPI(_ description: APIDescription, problem: Schema? = nil) -> JSON {
        OpenAPIWriter(description: description, problem: problem ?? ProblemReport.schema).document(self)
    }
}

/// Finds the route of a path in a tree of segments. A literal takes precedence over a placeholder, and a placeholder
/// over the rest of a path.
struct Router: Sendable {
    enum Match {
        case route(Int, values: [String])
        /// The path exists, but not for this method.
        case otherMethod(allowed: [HTTPMethod])
        case nothing
        /// The path is malformed or tries to leave its folder.
        case refused
    }

    private struct Node: Sendable {
        var words: [String: Int] = [:]
        var name: Int?
        var rest: Int?
        /// The routes that end here, by method.
        var routes: [(method: HTTPMethod, index: Int)] = []
    }

    private var nodes = [Node()]
    /// Paths without placeholders, found in one step.
    private var plain: [String: Int] = [:]

    /// False if another route has the same method and shape.
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

    /// Tries every match until one ends in a route with the method.
    private func find(
        _ place: Int, _ segments: ArraySlice<String>, _ values: [String], _ method: HTTPMethod, _ best: inout Match?
    ) {
        if case .route = best { return }
        guard let segment = segments.first else { return improve(&best, answer(place, method, values)) }
        if let next = nodes[place].words[segment] { find(next, segments.dropFirst(), values, method, &best) }
        if let next = nodes[place].name, Self.climbs(segment) {
            // No valid name has this form, and a handler that builds a path from it would leave its folder.
            if !nodes[next].routes.isEmpty || segments.count > 1 { improve(&best, .refused) }
        } else if let next = nodes[place].name, !segment.isEmpty {
            find(next, segments.dropFirst(), values + [segment], method, &best)
        }
        guard let next = nodes[place].rest else { return }
        // An escaped slash is part of a name, not a separator, which a path on disk cannot express.
        guard !segments.contains(where: { $0.utf8.contains(Byte.slash) }) else { return improve(&best, .refused) }
        improve(&best, answer(next, method, values + [segments.joined(separator: "/")]))
    }

    /// Whether escaped slashes in a name make it a path that leaves its folder. Harmless slashes are allowed: model
    /// names have them.
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

/// A path with placeholders in braces: `/v1/projects/{id}`, `/files/{path...}`.
struct PathTemplate: Sendable {
    enum Segment: Sendable {
        case word(String)
        case name
        /// The rest of the path.
        case rest
    }

    let text: String
    let segments: [Segment]
    /// The placeholder names, in order.
    let names: [String]

    /// Nil when it is malformed.
    init?(_ text: String) {
        guard text.hasPrefix("/") else { return nil }
        var segments: [Segment] = []
        var names: [String] = []
        let parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            guard part.hasPrefix("{"), part.hasSuffix("}") else {
                guard !part.contains(where: { "{}%?#".contains($0) }) else { return nil }
                segments.append(.word(String(part)))
                continue
            }
            var name = part.dropFirst().dropLast()
            let isRest = name.hasSuffix("...")
            if isRest { name = name.dropLast(3) }
            guard !name.isEmpty, !names.contains(String(name)), !isRest || index == parts.count - 1 else { return nil }
            names.append(String(name))
            segments.append(isRest ? .rest : .name)
        }
        self.text = text
        self.segments = segments
        self.names = names
    }

    /// The path in OpenAPI notation, which cannot express the rest of a path.
    var documented: String {
        text.split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.hasSuffix("...}") ? part.dropLast(4) + "}" : part
        }.joined(separator: "/")
    }
}
