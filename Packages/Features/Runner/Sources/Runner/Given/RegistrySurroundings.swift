import Bundles
import Capabilities
import FileKit
import Registry

/// Tells the check of bundles what this program can do.
struct RegistrySurroundings: BundleSurroundings {
    let host: Host
    let library: BundleLibrary

    var reach: BundleReach { library.reach(host) }

    func action(_ name: String) -> ActionFacts? {
        guard let action = host.registry.actions[name] else { return nil }
        if action.id == RunAction.id {
            return ActionFacts(
                id: action.id, effect: .reads, parameters: [], result: .any, problem: RunnerError.runsItself.message)
        }
        return ActionFacts(
            id: action.id, effect: action.effect, sends: action.sends, destroyingFlag: action.destroyingFlag,
            offer: action.offer,
            parameters: action.parameters.map { ActionFacts.Parameter($0.property, isRequired: $0.isRequired) },
            result: action.result, problem: problem(of: action))
    }

    func absence(ofAction name: String) -> String? {
        // The ids of actions begin with the id of their feature.
        let ids = host.composition.off.map(\.id) + host.composition.features.map(\.manifest.id)
        return ids.first { name.hasPrefix($0 + ".") }.flatMap { problem(ofFeature: $0) }
    }

    var actionNames: [String] {
        host.registry.actions.all.filter { !$0.isHidden }.flatMap {
            [$0.id] + ($0.alias.map { [$0] } ?? [])
        }
    }

    func problem(ofFeature id: String) -> String? {
        if let composed = host.composition.features.first(where: { $0.manifest.id == id }) {
            if let problem = host.composition.problems.first(where: { $0.feature == id }) {
                return "the feature \(id) cannot be used: \(problem.message)"
            }
            return composed.feature == nil ? "the feature \(id) cannot be created" : nil
        }
        if let left = host.composition.off.first(where: { $0.id == id }) {
            return "the feature \(id) is off: \(left.reason)"
        }
        let known = host.composition.features.map(\.manifest.id) + host.composition.off.map(\.id)
        return "no feature '\(PlainText.escape(id))' in this program\(Suggestion.text(for: id, among: known))"
    }

    func bundle(_ path: String, besides file: String) throws(BundleFailure) -> BundleSource {
        try library.bundle(path, besides: file)
    }

    private func problem(of action: Action) -> String? {
        guard let owner = host.registry.actions.owner(of: action) else { return nil }
        return problem(ofFeature: owner)
    }
}
