public import Capabilities
public import Settings
import Synchronization

/// The whole that an action runs in.
public struct Host: Sendable {
    /// The program's name, as the person called it, and its version.
    public let name: String
    public let version: String
    public let surroundings: Surroundings
    public let settings: Settings
    /// Every setting that this build knows.
    public let catalogue: SettingsCatalogue
    /// The features that were put together.
    public let composition: Composition
    /// How each of them is.
    public let states: FeatureStates

    public var environment: [String: String] { surroundings.environment }
    public var locations: Locations { surroundings.locations }
    public var redactor: Redactor { surroundings.redactor }
    public var clock: any Clock<Duration> { surroundings.clock }
    public var now: @Sendable () -> Timestamp { surroundings.now }

    public init(
        name: String, version: String, surroundings: Surroundings, settings: Settings, catalogue: SettingsCatalogue,
        composition: Composition, states: FeatureStates = FeatureStates()
    ) {
        self.name = name
        self.version = version
        self.surroundings = surroundings
        self.settings = settings
        self.catalogue = catalogue
        self.composition = composition
        self.states = states
    }
}

extension Locations {
    /// A path as it is meant where the command runs.
    public func absolute(_ path: String) -> String {
        AbsolutePath.joined(path, in: current)
    }
}

/// The folders that are ours; they need not exist.
public struct Locations: Sendable, Hashable {
    /// Where the command runs.
    public var current: String
    public var config: String
    /// Where the machine's administrator puts settings, the strongest first.
    public var systemConfig: [String]
    /// The project's settings file, where one was found.
    public var project: String?
    public var data: String
    public var state: String
    public var cache: String

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

/// What a feature may know of the machine and the person before anything is composed.
public struct Surroundings: Sendable {
    public let environment: [String: String]
    public let locations: Locations
    /// Takes secrets out of all that is logged, traced and said.
    public let redactor: Redactor
    /// Time for limits and pauses; tests put their own in.
    public let clock: any Clock<Duration>
    /// The time of day.
    public let now: @Sendable () -> Timestamp
    /// What features share among the compositions of a session.
    let shared: SharedValues

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

    /// The same for the next composition of a session, with what all of them share.
    public func moved(to locations: Locations) -> Surroundings {
        Surroundings(
            environment: environment, locations: locations, redactor: redactor, clock: clock, now: now, shared: shared)
    }

    /// No folders, no variables, and a time that stands still: for compositions that are only looked at.
    public static var none: Surroundings {
        Surroundings(
            environment: [:], locations: Locations(current: "/", config: "", data: "", state: "", cache: ""),
            clock: ContinuousClock(), now: { Timestamp(microseconds: 0) })
    }
}

/// What features share among the compositions of a session, by feature and name.
final class SharedValues: Sendable {
    private let values = Mutex<[String: any Sendable]>([:])

    /// The value that is there, else a new one, which stays.
    func value<Value: Sendable>(_ name: String, _ make: () -> Value) -> Value {
        values.withLock { values in
            if let value = values[name] as? Value { return value }
            let value = make()
            values[name] = value
            return value
        }
    }
}
