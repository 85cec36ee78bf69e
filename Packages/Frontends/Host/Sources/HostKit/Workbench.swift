public import Capabilities
public import FileKit
import Glibc
public import JSON
import ProcessKit
public import Registry
package import Settings

/// Reads the settings, composes the features and performs actions.
///
/// A program with your own choice of features is a workbench and a frontend:
///
/// ```swift
/// let workbench = Workbench(name: "mybench", version: "1.0", features: [BuiltInFeature(ChatFeature.self)])
/// ```
public struct Workbench: Sendable {
    /// The choices for one run, in addition to the settings.
    public struct Options: Sendable {
        /// If set, only these features and those of the host are used.
        public var only: [String]?
        /// `key=value`, as typed.
        public var settings: [String] = []

        /// All features, and no settings besides those of files and variables.
        public init() {}
    }

    /// Everything that an action runs in, such as the settings, the clock and the composition.
    public let host: Host
    /// The problems of the settings and the composition, if any. With problems, only actions marked `always()` run.
    public let failure: (any Failure)?

    /// The features that every workbench has besides those that it is made with.
    public static let essentials = [
        BuiltInFeature(essential: HostFeature.self), BuiltInFeature(essential: LogFeature.self),
    ]

    /// The combined features, with all problems found.
    public var composition: Composition { host.composition }
    /// The actions and capabilities of the features.
    public var registry: Registry { host.registry }

    /// The inputs of this workbench, to make another one from.
    let recipe: Recipe
    /// The state of the settings files just before they were read.
    let marks: SettingsMarks

    struct Recipe: Sendable {
        let name: String
        let version: String
        let features: [BuiltInFeature]
        let options: Options
        let environment: [String: String]
        let catalogue: SettingsCatalogue
        var simulation = Simulation()

        init(
            _ name: String, _ version: String, _ features: [BuiltInFeature], _ options: Options,
            _ environment: [String: String]
        ) {
            self.name = name
            self.version = version
            self.features = essentials + features
            self.options = options
            self.environment = environment
            catalogue = SettingsCatalogue(of: self.features)
        }

        func loader() -> SettingsLoader {
            SettingsLoader(environment: environment, catalogue: catalogue, current: simulation.current)
        }
    }

    /// What a test replaces.
    struct Simulation: Sendable {
        /// The folder of the command; nil for that of the process.
        var current: String?
        /// Settings that take precedence over those of files.
        var layers: [SettingsLayer] = []
        var clock: any Clock<Duration> = ContinuousClock()
        var now: @Sendable () -> Timestamp = Timestamp.now
    }

    /// Reads the settings and composes the features. Does not throw: problems are kept in `failure`, so that the
    /// actions that fix them can still run.
    public init(
        name: String, version: String, features: [BuiltInFeature], options: Options = Options(),
        environment: [String: String] = Environment.snapshot()
    ) {
        self.init(Recipe(name, version, features, options, environment))
    }

    /// For tests: the same with other surroundings.
    ///
    /// - Parameters:
    ///   - current: the folder of the command.
    ///   - layers: settings that take precedence over those of files.
    ///   - now: the time of day; nil for the real one.
    package init(
        name: String, version: String, features: [BuiltInFeature], options: Options, environment: [String: String],
        current: String, layers: [SettingsLayer], clock: any Clock<Duration>, now: (@Sendable () -> Timestamp)?
    ) {
        var recipe = Recipe(name, version, features, options, environment)
        recipe.simulation = Simulation(current: current, layers: layers, clock: clock, now: now ?? Timestamp.now)
        self.init(recipe)
    }

    /// - Parameter present: the surroundings of another workbench of the same session, whose shared values this one
    ///   keeps using.
    init(_ recipe: Recipe, sharing present: Surroundings? = nil) {
        let stopwatch = Stopwatch(ContinuousClock())
        let loader = recipe.loader()
        // Taken before the read, so that no change is missed in between.
        let marks = loader.marks()
        let settings = loader.load(flags: recipe.options.settings, adding: recipe.simulation.layers)
        let surroundings =
            present?.moved(to: loader.locations)
            ?? Surroundings(
                environment: recipe.environment, locations: loader.locations, clock: recipe.simulation.clock,
                now: recipe.simulation.now)
        if present == nil { surroundings.redactor.learn(secretsIn: recipe.environment) }
        let composition = Composition(
            recipe.features, settings: settings, selection: .init(only: recipe.options.only),
            surroundings: surroundings)
        self.init(
            host: Host(
                name: recipe.name, version: recipe.version, surroundings: surroundings, settings: settings,
                catalogue: recipe.catalogue, composition: composition, preparation: stopwatch.time()),
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

extension Workbench {
    /// Opens the session of this workbench; the caller must close it. A workbench has only one session. The session
    /// picks up changed settings while it is open.
    public func open() -> WorkbenchSession { open(limits: .init()) }

    /// The same with other limits, for tests.
    package func open(limits: WorkbenchSession.Limits) -> WorkbenchSession {
        WorkbenchSession(host, failure: failure, limits: limits, renewal: SettingsWatch(self))
    }

    /// Performs one action in its own session, as a command does.
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
        // An instant action has not opened anything that would need closing.
        for stuck in action.isInstant ? [] : await session.close() {
            output.notice("the feature \(stuck) did not stop in time and was abandoned")
        }
        return try result.get()
    }
}

extension Redactor {
    /// Shorter values are mostly switches and ordinary words, which would then be masked everywhere.
    private static let leastLength = 8

    /// From now on, removes the values of all variables whose names suggest a secret.
    func learn(secretsIn environment: [String: String]) {
        for (name, value) in environment where CommandEnvironment.isSecret(name) {
            guard value.utf8.count >= Self.leastLength, !Self.isFile(value) else { continue }
            learn(Secret(value), named: name)
        }
    }

    /// `GOOGLE_APPLICATION_CREDENTIALS` and similar variables hold the path of a secret, which people want to read in
    /// messages.
    private static func isFile(_ value: String) -> Bool { AbsolutePath.isAbsolute(value) && Files.exists(value) }
}
