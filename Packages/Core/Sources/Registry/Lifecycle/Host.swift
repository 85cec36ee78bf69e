public import Capabilities
public import Settings
import Synchronization

/// Everything that an action, a running feature or a check runs in.
public struct Host: Sendable {
    /// The program's name, as the person called it.
    public let name: String
    /// The program's version.
    public let version: String
    /// What was known before anything was composed.
    public let surroundings: Surroundings
    /// The settings of all features, merged.
    public let settings: Settings
    /// Every setting that this build knows.
    public let catalogue: SettingsCatalogue
    /// The composed features.
    public let composition: Composition
    /// The state of each feature.
    public let states: FeatureStates
    /// How long it took to read the settings and to compose the features; nil if unknown.
    public let preparation: Duration?

    /// The actions and capabilities of the features.
    public var registry: Registry { composition.registry }
    /// The environment variables of the command.
    public var environment: [String: String] { surroundings.environment }
    /// The folders of the program.
    public var locations: Locations { surroundings.locations }
    /// Removes secrets from everything that is logged, traced and printed.
    public var redactor: Redactor { surroundings.redactor }
    /// The clock for limits and pauses.
    public var clock: any Clock<Duration> { surroundings.clock }
    /// Returns the current time.
    public var now: @Sendable () -> Timestamp { surroundings.now }

    /// By default no feature has a state yet.
    public init(
        name: String, version: String, surroundings: Surroundings, settings: Settings, catalogue: SettingsCatalogue,
        composition: Composition, states: FeatureStates = FeatureStates(), preparation: Duration? = nil
    ) {
        self.name = name
        self.version = version
        self.surroundings = surroundings
        self.settings = settings
        self.catalogue = catalogue
        self.composition = composition
        self.states = states
        self.preparation = preparation
    }
}

extension Locations {
    /// Resolves a path relative to the current folder of the command.
    public func absolute(_ path: String) -> String {
        AbsolutePath.joined(path, in: current)
    }
}

/// Martlet's folders. They may not exist.
public struct Locations: Sendable, Hashable {
    /// The current folder of the command.
    public var current: String
    /// The folder for the person's settings and bundles.
    public var config: String
    /// The folders for settings of the machine's administrator, the strongest first.
    public var systemConfig: [String]
    /// The project's settings file, if one was found.
    public var project: String?
    /// The folder for what must not be lost, such as databases and keys.
    public var data: String
    /// The folder for what belongs to this machine only, such as logs and the trust in projects.
    public var state: String
    /// The folder for what can be made again at any time.
    public var cache: String

    /// By default there are no settings of an administrator or a project. A folder that cannot be determined is empty.
    public init(
        current: String, config: String, systemConfig: [String] = [], project: String? = nil, data: String,
        state: String, cache: String
    ) {
        self.current = current
        self.config = config
        self.systemConfig = systemConfig
        self.project = project
        self.data = data
        self.state = state
        self.cache = cache
    }
}

/// The environment that is known before anything is composed. A feature may store it. It must not store the host, which
/// refers to the features and so would never be freed.
public struct Surroundings: Sendable {
    /// The environment variables of the command.
    public let environment: [String: String]
    /// The folders of the program.
    public let locations: Locations
    /// Removes secrets from everything that is logged, traced and printed.
    public let redactor: Redactor
    /// The clock for limits and pauses; tests replace it.
    public let clock: any Clock<Duration>
    /// The current time.
    public let now: @Sendable () -> Timestamp
    /// Values that features share among the compositions of a session.
    let shared: SharedValues

    /// - Parameter redactor: shared by everything that prints, so that all of it knows the same secrets.
    public init(
        environment: [String: String], locations: Locations, redactor: Redactor = Redactor(),
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp
    ) {
        self.init(
            environment: environment, locations: locations, redactor: redactor, clock: clock, now: now,
            shared: SharedValues())
    }

    private init(
        environment: [String: String], locations: Locations, redactor: Redactor, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp, shared: SharedValues
    ) {
        self.environment = environment
        self.locations = locations
        self.redactor = redactor
        self.clock = clock
        self.now = now
        self.shared = shared
    }

    /// The same surroundings with other locations, for the next composition of a session. Shared values are kept.
    public func moved(to locations: Locations) -> Surroundings {
        Surroundings(
            environment: environment, locations: locations, redactor: redactor, clock: clock, now: now, shared: shared)
    }

    /// No folders, no variables, and a fixed time: for compositions that are only inspected.
    public static var none: Surroundings {
        Surroundings(
            environment: [:], locations: Locations(current: "/", config: "", data: "", state: "", cache: ""),
            clock: ContinuousClock(), now: { Timestamp(microseconds: 0) })
    }
}

/// Values that features share among the compositions of a session, by feature and name.
final class SharedValues: Sendable {
    private let values = Mutex<[String: any Sendable]>([:])

    /// The existing value, or a new one that is then kept.
    func value<Value: Sendable>(_ name: String, _ make: () -> Value) -> Value {
        values.withLock { values in
            if let value = values[name] as? Value { return value }
            let value = make()
            values[name] = value
            return value
        }
    }
}
