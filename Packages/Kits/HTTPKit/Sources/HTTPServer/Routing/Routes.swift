import HTTPCore

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

/// All routes of a server, checked against each other.
public struct Routes: Sendable {
    /// In the order in which they were given.
    public let all: [Route]
    let entries: [RouteEntry]
    private let router: Router

    /// Throws `.routes` when routes contradict themselves or each other: a mistake of the program, found at its start.
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
                problems.append("\(name) has the id \(route.id), as another route has")
            }
            problems += Self.contradictions(route, template).map { "\(name) \($0)" }
        }
        guard problems.isEmpty else {
            throw ServerError(.routes, "the routes contradict each other: " + problems.joined(separator: "; "))
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
            found.append("takes two bodies")
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

    /// The route of a method and a path.
    func match(_ method: HTTPMethod, _ path: String) -> Router.Match {
        router.match(method, path)
    }
}
