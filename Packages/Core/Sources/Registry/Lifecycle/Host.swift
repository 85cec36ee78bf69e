public import Capabilities
public import Settings

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
