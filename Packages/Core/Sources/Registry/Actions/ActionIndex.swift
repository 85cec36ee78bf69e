import Capabilities

/// All actions of a composition, by id and alias, with the problems of their declarations.
public struct ActionIndex: Sendable {
    /// In the order in which they were registered.
    public let all: [Action]
    private let byID: [String: RegisteredAction]
    private let byAlias: [String: RegisteredAction]
    let problems: [CompositionProblem]

    init(_ registered: [(feature: String, action: Action)], namespaces: [String: [String]]) {
        var problems: [CompositionProblem] = []
        var byID: [String: Int] = [:]
        var byAlias: [String: Int] = [:]
        var defaults: [(group: Substring, id: String)] = []
        byID.reserveCapacity(registered.count)
        for (index, (feature, action)) in registered.enumerated() {
            func report(_ code: CompositionProblem.Code, _ message: String) {
                problems.append(CompositionProblem(code, feature, message))
            }
            if let other = byID.updateValue(index, forKey: action.id) {
                report(.duplicateAction, "declares the action \(action.id), and so does \(registered[other].feature)")
            }
            if !Self.isOwn(action.id, of: feature, namespaces) {
                report(.malformed, "declares the action \(action.id), whose id does not begin with \(feature).")
            }
            for contradiction in action.contradictions {
                report(.contradiction, "declares the action \(action.id), which \(contradiction)")
            }
            if let alias = action.alias, byAlias.updateValue(index, forKey: alias) != nil {
                report(.duplicateAction, "gives \(action.id) the alias \(alias), which another action has")
            }
            if action.isDefault {
                let group = action.group
                if let other = defaults.last(where: { $0.group == group }) {
                    report(
                        .duplicateAction, "makes \(action.id) the default of \(group), which already has \(other.id)")
                }
                defaults.append((group, action.id))
            }
        }
        for (alias, index) in byAlias.sorted(by: { $0.key < $1.key })
        where registered.contains(where: { $0.action.id.isBelow(alias) }) {
            problems.append(
                CompositionProblem(
                    .duplicateAction, registered[index].feature,
                    "gives \(registered[index].action.id) the alias \(alias), which is the first word of other actions")
            )
        }
        let entries = registered.map { RegisteredAction($0.action, of: $0.feature) }
        all = registered.map(\.action)
        self.byID = byID.mapValues { entries[$0] }
        self.byAlias = byAlias.mapValues { entries[$0] }
        self.problems = problems
    }

    /// Whether an id begins with a word that belongs to the feature.
    static func isOwn(_ id: String, of feature: String, _ namespaces: [String: [String]]) -> Bool {
        (namespaces[feature] ?? [feature]).contains { id.isBelow($0) }
    }

    /// The action of that id or alias.
    public subscript(id: String) -> Action? { registered(id)?.action }

    /// The feature that declared an action.
    public func owner(of action: Action) -> String? { byID[action.id]?.owner }

    /// The action, or an error that suggests the nearest one.
    public func find(_ id: String) throws(RegistryError) -> Action { try registration(of: id).action }

    /// The same with its owner.
    func registration(of id: String) throws(RegistryError) -> RegisteredAction {
        guard let registered = registered(id) else {
            throw RegistryError.noAction(
                id, suggestion: Suggestion.nearest(to: id, among: all.filter { !$0.isHidden }.map(\.id)))
        }
        return registered
    }

    private func registered(_ id: String) -> RegisteredAction? { byID[id] ?? byAlias[id] }
}

/// An action with the feature that declared it. A class, because performing an action would otherwise copy the
/// declaration several times.
final class RegisteredAction: Sendable {
    let action: Action
    /// The id of the feature.
    let owner: String

    init(_ action: Action, of owner: String) {
        (self.action, self.owner) = (action, owner)
    }
}

extension String {
    /// Whether a dotted id equals a name or is below it.
    fileprivate func isBelow(_ name: String) -> Bool {
        hasPrefix(name)
            && (utf8.count == name.utf8.count
                || utf8[utf8.index(utf8.startIndex, offsetBy: name.utf8.count)] == UInt8(ascii: "."))
    }
}
