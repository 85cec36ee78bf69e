import Capabilities
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

/// What a feature says of itself before any of its code runs.
public struct Manifest: Sendable {
    /// Lower-case words joined by dots; action ids and settings begin with it.
    public let id: String
    /// One line, without a final stop.
    public let summary: String
    public let version: String
    public let provides: [Provision]
    public let needs: [Need]
    public let settings: [SettingDeclaration]
    /// The first words that its action ids may have; its own id unless it speaks for more.
    public let namespaces: [String]
    /// What its groups of commands are for, by their words joined by dots, where the feature's summary does not say it.
    public let groups: [String: String]
    /// Environment variables with the prefix of settings that are not settings, such as one that holds a secret, and what
    /// each is for.
    public let variables: [String: String]

    public init(
        id: String, summary: String, version: String, provides: [Provision] = [], needs: [Need] = [],
        settings: [SettingDeclaration] = [], namespaces: [String]? = nil,
        groups: [String: String] = [:], variables: [String: String] = [:]
    ) {
        self.id = id
        self.summary = summary
        self.version = version
        self.provides = provides
        self.needs = needs
        self.settings = settings
        self.namespaces = namespaces ?? [id]
        self.groups = groups
        self.variables = variables
    }
}

/// A capability's protocol as a value that manifests can name.
public struct CapabilityType: Sendable, Hashable, CustomStringConvertible {
    private let type: any Any.Type

    @usableFromInline
    init(_ type: any Any.Type) {
        self.type = type
    }

    var id: ObjectIdentifier { ObjectIdentifier(type) }

    /// The protocol's name, without `any` and module.
    public var description: String {
        // The interpolation of a type only looks up its name; `String(describing:)` asks first, at some length, whether the
        // type's type has a description of its own.
        let name = "\(type)"
        return name.hasPrefix("any ") ? String(name.dropFirst(4)) : name
    }

    public static func == (left: CapabilityType, right: CapabilityType) -> Bool { left.id == right.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// What a feature offers to others.
public struct Provision: Sendable, Hashable {
    public let capability: CapabilityType
    let kind: Kind

    enum Kind: Sendable, Hashable { case single, shared, fallback }

    /// The one provider; a second one is a problem of the composition.
    public static func single<C>(_ capability: C.Type) -> Provision {
        Provision(capability: CapabilityType(capability), kind: .single)
    }

    /// One provider among any number.
    public static func shared<C>(_ capability: C.Type) -> Provision {
        Provision(capability: CapabilityType(capability), kind: .shared)
    }

    /// Used only where nobody else provides it.
    public static func fallback<C>(_ capability: C.Type) -> Provision {
        Provision(capability: CapabilityType(capability), kind: .fallback)
    }
}

/// What a feature uses of others.
public struct Need: Sendable, Hashable {
    public let capability: CapabilityType
    public let kind: Kind

    /// Only `one` orders the start, can be missing, and can be part of a cycle.
    public enum Kind: Sendable, Hashable { case one, optional, all }

    /// Exactly one provider, without which the feature cannot be.
    public static func one<C>(_ capability: C.Type) -> Need {
        Need(capability: CapabilityType(capability), kind: .one)
    }

    /// One provider if there is one.
    public static func optional<C>(_ capability: C.Type) -> Need {
        Need(capability: CapabilityType(capability), kind: .optional)
    }

    /// Every provider there is, which may be none.
    public static func all<C>(_ capability: C.Type) -> Need {
        Need(capability: CapabilityType(capability), kind: .all)
    }
}

/// What a running feature is given: its surroundings, the registry, and a way to say how it is.
public struct FeatureHost: Sendable {
    public let host: Host
    public let registry: Registry
    private let tell: @Sendable (Health) -> Void

    public init(host: Host, registry: Registry, tell: @escaping @Sendable (Health) -> Void) {
        self.host = host
        self.registry = registry
        self.tell = tell
    }

    /// The first `.ok` or `.degraded` ends the start; later ones change what people see.
    public func report(_ health: Health) {
        tell(health)
    }
}

/// Something that `martlet doctor` looks at.
public struct HealthCheck: Sendable {
    /// A stable dotted id that begins with the feature's id.
    public let id: String
    /// What is looked at, as a noun: "the settings folder".
    public let summary: String
    /// Looks; it has a time limit, after which it counts as failed.
    public let look: @Sendable (Host) async -> Finding

    public init(_ id: String, _ summary: String, look: @escaping @Sendable (Host) async -> Finding) {
        self.id = id
        self.summary = summary
        self.look = look
    }

    /// What was found, and how to mend it.
    public enum Finding: Sendable, Hashable {
        case ok(String)
        case warning(String, mend: String)
        case failure(String, mend: String)
    }
}

/// A library below a feature, for `version` and bug reports.
public struct Library: Sendable {
    public let name: String
    /// Asks the library itself, so that the answer is what is loaded and not what was compiled against; of a library that
    /// is opened only when it is used, what was compiled against.
    public let version: @Sendable () -> String
    /// What is installed; opens a library that is not linked, and throws when it cannot be used.
    public let installed: @Sendable () throws -> String

    /// A library that the program links.
    public init(_ name: String, version: @escaping @Sendable () -> String) {
        self.init(name, version: version, installed: version)
    }

    /// A library that is opened when it is first used.
    public init(
        _ name: String, version: @escaping @Sendable () -> String, installed: @escaping @Sendable () throws -> String
    ) {
        self.name = name
        self.version = version
        self.installed = installed
    }
}

extension SettingsCatalogue {
    /// Every setting of the features in a build, and the names of those that are left out of it.
    public init(of list: [BuiltInFeature]) {
        self.init(features: list.filter { !$0.isEssential }.compactMap { $0.type?.manifest.id })
        for entry in list {
            if let manifest = entry.type?.manifest {
                add(manifest.settings, of: manifest.id)
                add(variables: manifest.variables)
            } else {
                addAbsent(entry.id, "is not in this build; \(entry.mend(in: list))")
            }
        }
        closeWithProfiles()
    }
}

extension BuiltInFeature {
    /// How to get a feature that is not in this build, with those that are.
    func mend(in list: [BuiltInFeature]) -> String {
        let traits = list.filter { !$0.isEssential && ($0.type != nil || $0.trait == trait) }.map(\.trait)
        return "build with 'make build TRAITS=\(traits.joined(separator: ","))'"
    }
}
