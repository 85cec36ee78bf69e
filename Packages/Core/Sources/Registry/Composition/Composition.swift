import Capabilities
public import Settings

/// Features put together and checked: what can be done, in which order they start, and everything that is wrong.
///
/// With problems the registry holds what could be registered all the same, so that `doctor`, `features` and
/// `config` work when they are needed most.
public struct Composition: Sendable {
    public let registry: Registry
    /// Everything that is wrong; nothing may be started until it is empty.
    public let problems: [CompositionProblem]
    /// The features that are on, each after those it needs.
    public let features: [Composed]
    /// The features that are off, with the reason.
    public let off: [Left]

    /// A feature that is on.
    public struct Composed: Sendable {
        public let manifest: Manifest
        /// Nil when it could not be made.
        public let feature: (any Feature)?
        /// The features that it cannot be without.
        public let requires: [String]
        /// Those, and the ones that it uses when they are there.
        public let uses: [String]
        /// What it wants done when the session is closed.
        let closings: [@Sendable () async -> Void]
    }

    /// A feature that is not on.
    public struct Left: Sendable {
        public let id: String
        public let summary: String
        /// Why, and how to switch it on.
        public let reason: String
        /// The first words of its commands, and their shortcuts.
        public let commands: [String]
    }

    /// Which features are wanted beyond what the settings say.
    public struct Selection: Sendable {
        /// When given, these and the host's own.
        public var only: [String]?

        public init(only: [String]? = nil) {
            self.only = only
        }
    }

    /// Collects, checks and registers; runs nothing and opens nothing.
    public init(
        _ list: [BuiltInFeature], settings: Settings = Settings(), selection: Selection = Selection(),
        surroundings: Surroundings = .none
    ) {
        var check = CompositionCheck(list, settings: settings, selection: selection)
        let order = check.order()
        var builder = RegistryBuilder(
            surroundings: surroundings, current: Manifest(id: "", summary: "", version: ""))
        var composed: [Composed] = []
        for candidate in order {
            let manifest = candidate.manifest
            builder.current = manifest
            var made: (any Feature)?
            do {
                let feature = try candidate.type.init(settings.view(for: manifest.id))
                feature.register(in: &builder)
                builder.close()
                made = feature
            } catch {
                check.problems.append(
                    CompositionProblem(.failed, manifest.id, "cannot be made: \(AnyFailure(error).message)"))
            }
            let (requires, uses) = check.neighbours(of: manifest)
            composed.append(
                Composed(
                    manifest: manifest, feature: made, requires: requires, uses: uses, closings: builder.takeClosings())
            )
        }
        let index = ActionIndex(builder.actions, namespaces: check.namespaces)
        registry = Registry(
            slots: builder.providers.mapValues { $0.slot() }, actions: index, checks: builder.checks,
            libraries: builder.libraries)
        builder.whole.fill(registry)
        problems = check.problems + builder.problems + index.problems
        features = composed
        off = check.off
    }

    /// The feature and all that it needs or uses, so that a single command starts no more than that.
    public func closure(of id: String) -> Set<String> {
        let byID = Dictionary(features.map { ($0.manifest.id, $0) }, uniquingKeysWith: { first, _ in first })
        var found: Set<String> = []
        var open = [id]
        while let next = open.popLast() {
            guard let composed = byID[next], found.insert(next).inserted else { continue }
            open += composed.uses
        }
        return found
    }
}
