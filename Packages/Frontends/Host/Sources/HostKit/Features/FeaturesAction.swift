import Capabilities
import Registry

extension HostFeature {
    static var featuresAction: Action {
        Action("features", "List the features, their state and how to switch them on", .reads) { context in
            let rows = FeatureStatus.all(context.host)
            // What concerns no feature of the list, such as a misspelt one in --only, has no row to be told in.
            for problem in context.host.composition.problems where !rows.contains(where: { $0.id == problem.feature }) {
                context.notice(problem.description)
            }
            return rows
        }
        .always().instant().forModels()
        .example("martlet features --json", "As an array of id, state, reason and more")
    }
}

/// One feature as it is now.
private struct FeatureStatus: Record {
    let id: String
    let state: String
    let reason: String?
    let summary: String
    let version: String?
    let provides: [String]
    let needs: [String]

    static func all(_ host: Host) -> [FeatureStatus] {
        let problems = Dictionary(grouping: host.composition.problems, by: \.feature)
        let on = host.composition.features.map { composed -> FeatureStatus in
            let manifest = composed.manifest
            let wrong = problems[manifest.id]?.map(\.message).joined(separator: "; ")
            let state = wrong.map { FeatureState.failed($0) } ?? host.states.known(manifest.id) ?? .ok
            return FeatureStatus(
                id: manifest.id, state: state.word, reason: state.reason, summary: manifest.summary,
                version: manifest.version, provides: manifest.provides.map(\.capability.description),
                needs: manifest.needs.map(\.words))
        }
        let off = host.composition.off.map { left in
            FeatureStatus(
                id: left.id, state: "off", reason: left.reason, summary: left.summary, version: nil, provides: [],
                needs: [])
        }
        return (on + off).sorted { $0.id < $1.id }
    }

    static let fields: [Field<FeatureStatus>] = [
        Field("id", "The feature", .name) { $0.id },
        Field("state", "off, starting, ok, degraded, failed, stopping or stopped", .state) { $0.state },
        Field("summary", "What it is for") { $0.summary },
        Field("reason", "Why it is in that state, empty where there is nothing to say") { $0.reason ?? "" },
        Field("version", "Its version", .detail) { $0.version },
        Field("provides", "The capabilities it offers", .detail) { $0.provides },
        Field("needs", "The capabilities it uses", .detail) { $0.needs },
    ]
}

extension Need {
    fileprivate var words: String {
        switch kind {
        case .one: capability.description
        case .optional: "\(capability) (optional)"
        case .all: "\(capability) (all)"
        }
    }
}
