public import Capabilities
public import Settings

/// What a feature may ask of its surroundings.
public struct Host: Sendable {
    /// The program's name, as the person called it, and its version.
    public let name: String
    public let version: String
    public let environment: [String: String]
    public let locations: Locations
    public let settings: Settings
    /// Every setting that this build knows.
    public let catalogue: SettingsCatalogue
    /// The features that were put together.
    public let composition: Composition
    /// How each of them is.
    public let states: FeatureStates
    /// Time for limits and pauses; tests put their own in.
    public let clock: any Clock<Duration>
    /// The time of day.
    public let now: @Sendable () -> Timestamp

    public init(
        name: String, version: String, environment: [String: String], locations: Locations, settings: Settings,
        catalogue: SettingsCatalogue, composition: Composition, states: FeatureStates = FeatureStates(),
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp
    ) {
        self.name = name
        self.version = version
        self.environment = environment
        self.locations = locations
        self.settings = settings
        self.catalogue = catalogue
        self.composition = composition
        self.states = states
        self.clock = clock
        self.now = now
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
