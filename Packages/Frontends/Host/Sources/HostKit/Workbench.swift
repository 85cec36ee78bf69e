public import Capabilities
public import FileKit
import Glibc
public import JSON
import ProcessKit
public import Registry
import Settings

/// A host: the settings are read, the features are put together, and actions can be done.
///
/// A program of one's own with chosen features is this and a frontend:
///
/// ```swift
/// let workbench = Workbench(name: "mybench", version: "1.0", features: [BuiltInFeature(ChatFeature.self)])
/// ```
public struct Workbench: Sendable {
    /// What one run wants, beyond the settings.
    public struct Options: Sendable {
        /// When given, only these features and the host's own.
        public var only: [String]?
        /// `key=value`, as typed.
        public var settings: [String] = []

        public init() {}
    }

    public let host: Host
    /// What is wrong in settings and composition, if anything is; only actions that always work are done then.
    public let failure: (any Failure)?

    public var composition: Composition { host.composition }
    public var registry: Registry { host.composition.registry }

    /// Of what it was made, to make it anew.
    let recipe: Recipe
    /// The settings files as they were before they were read.
    let marks: SettingsMarks

    struct Recipe: Sendable {
        let name: String
        let version: String
        let features: [BuiltInFeature]
        let options: Options
        let environment: [String: String]
        let catalogue: SettingsCatalogue

        func loader() -> SettingsLoader { SettingsLoader(environment: environment, catalogue: catalogue) }
    }

    /// Reads the settings and composes the features. It throws nothing: what is wrong is kept in `failure`, so that
    /// the actions that mend it can still be done.
    public init(
        name: String, version: String, features: [BuiltInFeature], options: Options = Options(),
        environment: [String: String] = Environment.snapshot()
    ) {
        let all = [BuiltInFeature(essential: HostFeature.self)] + features
        self.init(
            Recipe(
                name: name, version: version, features: all, options: options, environment: environment,
                catalogue: SettingsCatalogue(of: all)))
    }

    /// - Parameter present: those of a workbench of the same session, with which this one shares what is to be shared.
    init(_ recipe: Recipe, sharing present: Surroundings? = nil) {
        let loader = recipe.loader()
        // Before they are read, so that no change falls between the two.
        let marks = loader.marks()
        let settings = loader.load(flags: recipe.options.settings)
        let surroundings =
            present?.moved(to: loader.locations)
            ?? Surroundings(
                environment: recipe.environment, locations: loader.locations, clock: ContinuousClock(),
                now: Timestamp.now)
        if present == nil { surroundings.redactor.learn(secretsIn: recipe.environment) }
        let composition = Composition(
            recipe.features, settings: settings, selection: .init(only: recipe.options.only),
            surroundings: surroundings)
        self.init(
            host: Host(
                name: recipe.name, version: recipe.version, surroundings: surroundings, settings: settings,
                catalogue: recipe.catalogue, composition: composition),
            recipe: recipe, marks: marks)
    }

    private init(host: Host, recipe: Recipe, marks: SettingsMarks) {
        self.host = host
        self.recipe = recipe
        self.marks = marks
        if !host.settings.problems.isEmpty {
            failure = SettingsFailure(host.settings.problems)
        } else if !host.composition.problems.isEmpty {
            failure = CompositionFailure(host.composition.problems)
        } else {
            failure = nil
        }
    }
}

extension Timestamp {
    /// The time of day, from the system.
    static func now() -> Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}

extension Workbench {
    /// A session of this workbench, which is to be closed. One workbench has one session. It takes up settings that change
    /// while it is open.
    public func open() -> WorkbenchSession {
        WorkbenchSession(host, failure: failure, renewal: SettingsWatch(self))
    }

    /// Does one action in a session of its own, as a command does.
    public func perform(
        _ action: Action, _ arguments: JSONObject, as caller: Caller, output: any ActionOutput,
        limit: Duration? = nil, isAgreed: Bool = false
    ) async throws -> any OutputValue {
        let session = open()
        let result: Result<any OutputValue, any Error>
        do {
            result = .success(
                try await session.perform(
                    action.id, arguments, as: caller, output: output, limit: limit, isAgreed: isAgreed))
        } catch {
            result = .failure(error)
        }
        // What waits for nothing has opened nothing that is to be closed.
        for stuck in action.isInstant ? [] : await session.close() {
            output.notice("the feature \(stuck) did not stop in time and was abandoned")
        }
        return try result.get()
    }
}

extension Redactor {
    /// Shorter values are switches and words more often than secrets, and would be masked wherever they stand.
    private static let leastLength = 8

    /// From now on the values of all variables are taken out that are called like secrets, whoever uses them.
    func learn(secretsIn environment: [String: String]) {
        for (name, value) in environment where CommandEnvironment.isSecret(name) {
            guard value.utf8.count >= Self.leastLength, !Self.isFile(value) else { continue }
            learn(Secret(value), named: name)
        }
    }

    /// `GOOGLE_APPLICATION_CREDENTIALS` and its like say where a secret is, which people want to read in messages.
    private static func isFile(_ value: String) -> Bool { value.hasPrefix("/") && Files.exists(value) }
}
