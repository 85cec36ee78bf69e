public import Settings

/// A package of Martlet: what it is, how it is made from its settings, and what it offers.
///
/// ```swift
/// public struct WeatherFeature: Feature {
///     static let units = Setting("units", "Units of measure", default: Units.metric)
///     public static let manifest = Manifest(
///         id: "weather", summary: "The weather in a city", version: "1.0", settings: [units.declaration])
///     private let units: Units
///
///     public init(_ settings: FeatureSettings) {
///         units = settings[Self.units]
///     }
///
///     public func register(in registry: inout RegistryBuilder) {
///         registry.add(
///             Action("weather.now", "The weather right now", .reads, .argument("city", "City to look up")) {
///                 context, city in "sunny in \(city)"
///             })
///     }
/// }
/// ```
public protocol Feature: Sendable {
    /// Readable without making the feature.
    static var manifest: Manifest { get }
    /// Takes its settings; opens nothing, because a feature that nobody uses must cost nothing.
    init(_ settings: FeatureSettings) throws
    /// Adds actions and capabilities.
    func register(in registry: inout RegistryBuilder)
    /// Begins what a command needs for sure and what takes long, such as loading a library, on a thread of its own and
    /// before anything is composed. Returns at once, opens nothing of the person's, and cannot fail.
    ///
    /// - Parameter words: those of the command, without the options that every command has.
    static func prepare(for words: [String])
}

extension Feature {
    public static func prepare(for words: [String]) {}
}

/// A feature that also lives in the background: a server, a poller, a child process to be ended.
public protocol RunningFeature: Feature {
    /// Calls `host.report(.ok)` when ready and lasts until it is cancelled; cleans up before it returns.
    func run(in host: FeatureHost) async throws
}

/// A feature as the executable lists it: in this build, or left out of it.
public struct BuiltInFeature: Sendable {
    /// The trait of the root package that puts it into a build.
    public let trait: String
    /// The names of the capabilities it provides, known even where the feature is left out.
    public let provides: [String]
    /// What it is for, known even where the feature is left out; as its manifest says it.
    public private(set) var summary: String
    /// The first words of its commands, and their shortcuts, known even where the feature is left out.
    public private(set) var commands: [String]
    /// The feature, where it is in this build.
    public let type: (any Feature.Type)?
    /// The host's own features and those of a frontend cannot be switched off.
    public let isEssential: Bool

    /// A feature that a trait puts into the build:
    ///
    /// ```swift
    /// BuiltInFeature(trait: "Auth", provides: "SecretStore", "TrustStore") {
    ///     #if Auth
    ///         AuthFeature.self
    ///     #endif
    /// }
    /// ```
    public init(trait: String, provides: String..., @FeatureInBuild type: () -> (any Feature.Type)?) {
        self.init(trait: trait, provides: provides, type())
    }

    /// A feature that is in every build of the program that lists it.
    public init(trait: String, provides: [String], _ type: (any Feature.Type)?) {
        self.trait = trait
        summary = ""
        commands = type?.manifest.namespaces ?? [trait.lowercased()]
        self.provides = provides
        self.type = type
        isEssential = false
    }

    /// Says what it is for, and which words its commands begin with where that is not its id alone.
    public func described(_ summary: String, commands: String...) -> BuiltInFeature {
        var copy = self
        copy.summary = summary
        if !commands.isEmpty { copy.commands = commands }
        return copy
    }

    /// The feature's id, also where the feature is left out.
    public var id: String { type?.manifest.id ?? trait.lowercased() }

    /// A feature that is always linked, with what its manifest says.
    public init(_ type: any Feature.Type) {
        self.init(
            trait: String(describing: type), provides: type.manifest.provides.map(\.capability.description), type)
    }

    /// A feature that belongs to the host or a frontend and is always on.
    public init(essential type: any Feature.Type) {
        trait = ""
        summary = ""
        commands = []
        provides = []
        self.type = type
        isEssential = true
    }
}

/// Lets a list of features leave one out with `#if` and nothing more.
@resultBuilder
public enum FeatureInBuild {
    public static func buildBlock() -> (any Feature.Type)? { nil }
    public static func buildBlock(_ type: any Feature.Type) -> (any Feature.Type)? { type }
}
