public import Capabilities
public import Settings

/// Features that were combined and checked: their actions, their start order, and all problems.
///
/// If there are problems, the registry still contains everything that could be registered, so that `doctor`, `features`
/// and `config` work when they are needed most.
public struct Composition: Sendable {
    /// The actions and capabilities that the features registered.
    public let registry: Registry
    /// All problems; nothing may be started unless it is empty.
    public let problems: [CompositionProblem]
    /// The features that are on, each after those it requires.
    public let features: [Composed]
    /// The features that are off, with the reason.
    public let off: [Left]

    /// A feature that is on.
    public struct Composed: Sendable {
        /// What the feature declares about itself.
        public let manifest: Manifest
        /// Nil if it could not be created.
        public let feature: (any Feature)?
        /// The features that it requires.
        public let requires: [String]
        /// The features that it requires or uses if they are available.
        public let uses: [String]
        /// The work to do when the session closes.
        let closings: [@Sendable () async -> Void]
    }

    /// A feature that is not on.
    public struct Left: Sendable {
        /// The id of the feature, also if it is not in this build.
        public let id: String
        /// The feature's summary in one line.
        public let summary: String
        /// Why, and how to switch it on.
        public let reason: String
        /// The first words of its commands and its shortcuts.
        public let commands: [String]
    }

    /// Restricts the features beyond what the settings say.
    public struct Selection: Sendable {
        /// If set, only these features and those of the host are used.
        public var only: [String]?

        /// By default the settings alone decide.
        public init(only: [String]? = nil) {
            self.only = only
        }
    }

    /// Collects, checks and registers features; runs and opens nothing.
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
                    CompositionProblem(.failed, manifest.id, "cannot be created: \(AnyFailure(error).message)"))
            }
            let (requires, uses) = check.neighbours(of: manifest)
            composed.append(
                Composed(
                    manifest: manifest, feature: made, requires: requires, uses: uses, closings: builder.takeClosings())
            )
        }
        let index = ActionIndex(builder.actions, namespaces: check.namespaces)
        let screens = ScreenIndex(builder.screens, namespaces: check.namespaces, actions: index)
        registry = Registry(
            slots: builder.providers.mapValues { $0.slot() }, actions: index, screens: screens, checks: builder.checks,
            libraries: builder.libraries, settingCompletions: builder.settingCompletions)
        builder.whole.fill(registry)
        problems = check.problems + builder.problems + index.problems + screens.problems
        features = composed
        off = check.off
    }

    /// The feature and everything that it requires or uses, so that a command starts no more than that.
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

/// Prevents features from being composed; names the feature concerned.
public struct CompositionProblem: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a problem, for programs.
    public enum Code: String, Sendable, Hashable {
        /// In this order: a required capability that nothing provides; several providers where one is allowed; features
        /// that require each other in a circle; a feature id that exists twice; an action id or an alias that exists
        /// twice; an id that is malformed or does not begin with that of its feature; declarations that contradict each
        /// other; a manifest, or an entry in the list of features, that does not agree with the feature; a feature that
        /// cannot be created.
        case missing, ambiguous, cycle, duplicateFeature, duplicateAction, malformed, contradiction, undeclared, failed
        /// The selection names a feature that is not in this build.
        case unknownFeature
    }

    /// The kind of the problem.
    public let code: Code
    /// The id of the feature concerned.
    public let feature: String
    /// What is wrong and how to fix it, as the rest of a sentence that begins with the feature.
    public let message: String

    init(_ code: Code, _ feature: String, _ message: String) {
        self.code = code
        self.feature = feature
        self.message = message
    }

    public var description: String { "\(feature) \(message)" }
}

/// All problems of a composition.
public struct CompositionFailure: Failure {
    /// The problems, each with its feature.
    public let problems: [CompositionProblem]

    /// Takes all problems at once, so that a person can fix them together.
    public init(_ problems: [CompositionProblem]) {
        self.problems = problems
    }

    public var code: String { "composition.invalid" }
    public var exit: ExitCode { .usage }
    public var message: String {
        (["these features cannot be combined:"] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}

/// The part of a composition that needs only manifests: which features are on, who needs whom, and in which order they
/// start.
struct CompositionCheck {
    struct Candidate {
        let type: any Feature.Type
        let manifest: Manifest
        let isEssential: Bool
    }

    var problems: [CompositionProblem] = []
    private(set) var off: [Composition.Left] = []
    private var candidates: [Candidate] = []
    /// The features that are not on and could provide a missing capability, by capability name.
    private var absentProviders: [String: [String]] = [:]
    private var providers: [CapabilityType: [(feature: String, kind: Provision.Kind)]] = [:]
    /// The words that a feature's action ids may begin with.
    private(set) var namespaces: [String: [String]] = [:]

    init(_ list: [BuiltInFeature], settings: Settings, selection: Composition.Selection) {
        var seen: Set<String> = []
        for entry in list {
            guard let type = entry.type else {
                leaveOut(entry, list)
                continue
            }
            let manifest = type.manifest
            if !seen.insert(manifest.id).inserted {
                problems.append(
                    CompositionProblem(.duplicateFeature, manifest.id, "exists twice; give one of them another id"))
                continue
            }
            checkShape(of: manifest, entry)
            if let reason = Self.reasonOff(manifest, entry, settings, selection) {
                off.append(
                    Composition.Left(
                        id: manifest.id, summary: manifest.summary, reason: reason.text,
                        commands: manifest.namespaces + entry.commands))
                for provision in manifest.provides {
                    absentProviders[provision.capability.description, default: []].append(
                        "\(manifest.id) provides it and is off: \(reason.mend)")
                }
            } else {
                candidates.append(Candidate(type: type, manifest: manifest, isEssential: entry.isEssential))
            }
        }
        for name in selection.only ?? [] where !seen.contains(name) {
            let hint = Suggestion.text(for: name, among: seen.sorted())
            let absent = off.first { $0.id == name && !seen.contains(name) }
            problems.append(
                CompositionProblem(
                    .unknownFeature, name,
                    absent.map { "is \($0.reason)" }
                        ?? "is not a feature of this build\(hint); see 'martlet features'"))
        }
        for candidate in candidates {
            namespaces[candidate.manifest.id] = candidate.manifest.namespaces
            for provision in candidate.manifest.provides {
                providers[provision.capability, default: []].append((candidate.manifest.id, provision.kind))
            }
        }
        checkProviders()
        checkNeeds()
    }

    // MARK: Which features are on

    private mutating func leaveOut(_ entry: BuiltInFeature, _ list: [BuiltInFeature]) {
        let mend = entry.mend(in: list)
        off.append(
            Composition.Left(
                id: entry.id, summary: entry.summary, reason: "not in this build; \(mend)", commands: entry.commands))
        for capability in entry.provides {
            absentProviders[capability, default: []].append(
                "\(entry.trait) provides it and is not in this build: \(mend)")
        }
    }

    private static func reasonOff(
        _ manifest: Manifest, _ entry: BuiltInFeature, _ settings: Settings, _ selection: Composition.Selection
    ) -> (text: String, mend: String)? {
        if entry.isEssential { return nil }
        if let only = selection.only {
            if only.contains(manifest.id) { return nil }
            return ("left out by --only", "add \(manifest.id) to --only")
        }
        if settings.isOn(manifest.id) { return nil }
        let place = settings.originOfSwitch(manifest.id).map { " (\($0.words))" } ?? ""
        let mend = "martlet config set features.\(manifest.id) true"
        return ("switched off\(place); \(mend)", mend)
    }

    private mutating func checkShape(of manifest: Manifest, _ entry: BuiltInFeature) {
        if !DottedName.isValid(manifest.id) {
            problems.append(
                CompositionProblem(
                    .malformed, manifest.id, "has a malformed id; ids are lower-case words joined by dots"))
        }
        var keys: Set<[String]> = []
        for setting in manifest.settings {
            if !keys.insert(setting.key).inserted {
                problems.append(
                    CompositionProblem(
                        .contradiction, manifest.id, "declares the setting \(setting.name) twice"))
            }
            for problem in setting.property.defaultProblems {
                problems.append(
                    CompositionProblem(
                        .contradiction, manifest.id,
                        "declares the setting \(setting.name) whose default \(problem.description)"))
            }
        }
        if !entry.summary.isEmpty, entry.summary != manifest.summary {
            problems.append(
                CompositionProblem(
                    .undeclared, manifest.id,
                    "has the summary '\(manifest.summary)', but its entry in the list of features has "
                        + "'\(entry.summary)'; make the entry the same"))
        }
        // Type names are slow to compute, so they are compared only if the list could disagree.
        if entry.isEssential || manifest.provides.isEmpty && entry.provides.isEmpty { return }
        let named = Set(manifest.provides.map(\.capability.description))
        if named != Set(entry.provides) {
            problems.append(
                CompositionProblem(
                    .undeclared, manifest.id,
                    "provides \(named.sorted().joined(separator: ", ").ifEmpty("nothing")), but its entry in the list "
                        + "of features names \(entry.provides.sorted().joined(separator: ", ").ifEmpty("nothing")); "
                        + "make the entry the same"))
        }
    }

    // MARK: Who provides what

    private mutating func checkProviders() {
        let contested = providers.filter { $0.value.count > 1 }
        for (capability, list) in contested.sorted(by: { $0.key.description < $1.key.description }) {
            let real = list.filter { $0.kind != .fallback }
            guard real.count > 1, let single = real.first(where: { $0.kind == .single }) else { continue }
            for other in real where other.feature != single.feature {
                problems.append(
                    CompositionProblem(
                        .ambiguous, other.feature,
                        "provides \(capability), but only one feature can, and \(single.feature) already does; "
                            + "switch one of them off with 'martlet config set features.\(other.feature) false'"))
            }
        }
    }

    /// The features that a lookup could find as providers.
    private func real(_ capability: CapabilityType) -> [String] {
        let list = providers[capability] ?? []
        let real = list.filter { $0.kind != .fallback }
        return (real.isEmpty ? list : real).map(\.feature)
    }

    private mutating func checkNeeds() {
        for candidate in candidates {
            for need in candidate.manifest.needs where need.kind == .one {
                let found = real(need.capability)
                if found.isEmpty {
                    problems.append(missing(need.capability, by: candidate.manifest.id))
                } else if found.count > 1, providers[need.capability]?.contains(where: { $0.kind == .single }) != true {
                    problems.append(
                        CompositionProblem(
                            .ambiguous, candidate.manifest.id,
                            "needs one \(need.capability), but \(found.joined(separator: ", ")) all provide one; "
                                + "switch off all but one"))
                }
            }
        }
    }

    private func missing(_ capability: CapabilityType, by feature: String) -> CompositionProblem {
        let ways = absentProviders[capability.description] ?? []
        let hint =
            ways.isEmpty
            ? "no feature known here provides it: add one, or switch \(feature) off with "
                + "'martlet config set features.\(feature) false'"
            : ways.joined(separator: "; or ")
        return CompositionProblem(.missing, feature, "needs \(capability), which nothing provides; \(hint)")
    }

    // MARK: Order

    /// The features that this one requires, and all that it uses.
    func neighbours(of manifest: Manifest) -> (requires: [String], uses: [String]) {
        var requires: [String] = []
        var uses: [String] = []
        for need in manifest.needs {
            let found = real(need.capability).filter { $0 != manifest.id }
            uses += found
            if need.kind == .one { requires += found }
        }
        return (requires, uses)
    }

    /// Each feature after those it requires. A cycle is reported and then ignored.
    mutating func order() -> [Candidate] {
        var waiting = candidates
        var done: Set<String> = []
        var sorted: [Candidate] = []
        let requires = Dictionary(
            candidates.map { ($0.manifest.id, neighbours(of: $0.manifest).requires + itself($0.manifest)) },
            uniquingKeysWith: { first, _ in first })
        while let first = waiting.first {
            var ready = waiting.filter { (requires[$0.manifest.id] ?? []).allSatisfy(done.contains) }
            if ready.isEmpty {
                let circle = Self.circle(from: first.manifest.id, requires, done)
                report(circle)
                ready = waiting.filter { circle.contains($0.manifest.id) }
            }
            sorted += ready
            done.formUnion(ready.map(\.manifest.id))
            waiting.removeAll { done.contains($0.manifest.id) }
        }
        return sorted
    }

    /// The feature itself, if it is the only provider of what it needs. A fallback may serve its own feature.
    private func itself(_ manifest: Manifest) -> [String] {
        let isNeeded = manifest.needs.contains { need in
            need.kind == .one
                && providers[need.capability]?.filter { $0.kind != .fallback }.map(\.feature) == [manifest.id]
        }
        return isNeeded ? [manifest.id] : []
    }

    /// Follows unmet requirements until a feature appears again. That must happen if no feature is ready.
    private static func circle(from start: String, _ requires: [String: [String]], _ done: Set<String>) -> [String] {
        var path: [String] = []
        var next: String? = start
        while let id = next {
            if let first = path.firstIndex(of: id) { return Array(path[first...]) }
            path.append(id)
            next = (requires[id] ?? []).first { !done.contains($0) }
        }
        return path
    }

    private mutating func report(_ circle: [String]) {
        problems.append(
            CompositionProblem(
                .cycle, circle[0],
                "is part of a cycle in which each needs the next: \((circle + [circle[0]]).joined(separator: " → ")); "
                    + "make one of these needs optional"))
    }
}

extension String {
    fileprivate func ifEmpty(_ other: String) -> String { isEmpty ? other : self }
}
