import Capabilities

/// All screens of a composition, by id.
public struct ScreenIndex: Sendable {
    /// In the order in which they were registered.
    public let all: [Screen]
    private let owners: [String]
    private let byID: [String: Int]
    let problems: [CompositionProblem]

    init(_ registered: [(feature: String, screen: Screen)], namespaces: [String: [String]], actions: ActionIndex) {
        var problems: [CompositionProblem] = []
        var byID: [String: Int] = [:]
        for (index, (feature, screen)) in registered.enumerated() {
            func report(_ code: CompositionProblem.Code, _ message: String) {
                problems.append(CompositionProblem(code, feature, message))
            }
            if let other = byID.updateValue(index, forKey: screen.id) {
                report(.duplicateAction, "declares the screen \(screen.id), and so does \(registered[other].feature)")
            }
            if actions[screen.id] != nil {
                report(.duplicateAction, "declares the screen \(screen.id), which is the id of an action")
            }
            if !ActionIndex.isOwn(screen.id, of: feature, namespaces) {
                report(.malformed, "declares the screen \(screen.id), whose id does not begin with \(feature).")
            }
            if screen.placement != .detail, let needed = screen.parameters.first(where: \.isRequired) {
                report(.contradiction, "offers the screen \(screen.id) without a row, but it needs \(needed.name)")
            }
            if screen.parameters.contains(where: { $0.name == Screen.followOption }) {
                report(
                    .contradiction,
                    "declares the screen \(screen.id) with the parameter \(Screen.followOption), which is an option of every "
                        + "screen on a command line")
            }
            for contradiction in screen.declaration.contradictions {
                report(.contradiction, "declares the screen \(screen.id), which \(contradiction)")
            }
        }
        all = registered.map(\.screen)
        owners = registered.map(\.feature)
        self.byID = byID
        self.problems = problems
    }

    /// The screen with that id.
    public subscript(id: String) -> Screen? { byID[id].map { all[$0] } }

    /// The feature that declared a screen.
    public func owner(of screen: Screen) -> String? { byID[screen.id].map { owners[$0] } }

    /// The screen, or an error that suggests the nearest one.
    public func find(_ id: String) throws(RegistryError) -> Screen {
        guard let screen = self[id] else {
            throw RegistryError.noScreen(id, suggestion: Suggestion.nearest(to: id, among: all.map(\.id)))
        }
        return screen
    }
}
