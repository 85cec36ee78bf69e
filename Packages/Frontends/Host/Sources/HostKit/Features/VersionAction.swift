import Capabilities
import Registry

extension HostFeature {
    static var versionAction: Action {
        Action("version", "Show the version, the features and the libraries of this build", .reads) { context in
            Version(context.host)
        }
        .always().instant().forModels()
        .example("martlet version --json", "For a bug report")
    }
}

/// What this build is made of.
private struct Version: Record {
    let name: String
    let version: String
    let features: [String]
    let libraries: [String: String]

    init(_ host: Host) {
        name = host.name
        version = host.version
        features = host.composition.features.map(\.manifest.id)
        libraries = Dictionary(
            host.composition.registry.libraries.map { ($0.name, $0.version()) }, uniquingKeysWith: { first, _ in first }
        )
    }

    static let fields: [Field<Version>] = [
        Field("name", "The program", .name) { $0.name },
        Field("version", "Its version") { $0.version },
        Field("features", "The features that are on") { $0.features },
        Field("libraries", "The libraries below them, as they are loaded or, before they are, as they were built with")
        { $0.libraries },
    ]
}
