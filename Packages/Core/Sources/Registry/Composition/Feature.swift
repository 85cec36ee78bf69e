import Capabilities
public import Settings

/// A feature of Martlet: its manifest, its settings, and its actions and capabilities.
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
    /// Available without creating the feature.
    static var manifest: Manifest { get }
    /// Receives the settings. Must not open anything, because an unused feature must cost nothing.
    init(_ settings: FeatureSettings) throws
    /// Adds actions and capabilities.
    func register(in registry: inout RegistryBuilder)
    /// Starts slow work that a command is certain to need, such as loading a library, on a separate thread and before
    /// anything is composed. Returns at once, opens none of the person's files, and cannot fail.
    ///
    /// - Parameter words: the words of the command, without common options.
    static func prepare(for words: [String])
}

extension Feature {
    public static func prepare(for words: [String]) {}
}

/// A feature with background work: a server, a poller, or a child process.
public protocol RunningFeature: Feature {
    /// Runs until it is cancelled; cleans up before it returns.
    ///
    /// - Parameter report: takes the feature's health. The first `.ok` or `.degraded` completes the start; later reports
    ///   update the visible state.
    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws
}

/// An entry in the executable's list of features, whether or not the feature is in this build.
public struct BuiltInFeature: Sendable {
    /// The trait of the root package that includes it in a build.
    public let trait: String
    /// The names of the capabilities it provides; also known if the feature is not in this build.
    public let provides: [String]
    /// Its summary, identical to the manifest's; also known if the feature is not in this build.
    public private(set) var summary: String
    /// The first words of its commands and its shortcuts, or all words of a command joined by dots if others have the first
    /// one too; also known if the feature is not in this build.
    public private(set) var commands: [String]
    /// The feature, if it is in this build.
    public let type: (any Feature.Type)?
    /// Features of the host or a frontend, which cannot be switched off.
    public let isEssential: Bool

    /// A feature that a trait includes in the build:
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

    /// Sets the summary, and the first words of its commands if they are not just its id.
    public func described(_ summary: String, commands: String...) -> BuiltInFeature {
        var copy = self
        copy.summary = summary
        if !commands.isEmpty { copy.commands = commands }
        return copy
    }

    /// The feature's id; also known if the feature is not in this build.
    public var id: String { type?.manifest.id ?? trait.lowercased() }

    /// A feature that is always linked, described by its manifest.
    public init(_ type: any Feature.Type) {
        self.init(
            trait: String(describing: type), provides: type.manifest.provides.map(\.capability.description), type)
    }

    /// A feature of the host or a frontend, which is always on.
    public init(essential type: any Feature.Type) {
        trait = ""
        summary = ""
        commands = []
        provides = []
        self.type = type
        isEssential = true
    }
}

/// Lets a list leave out a feature with `#if` alone.
@resultBuilder
public enum FeatureInBuild {
    /// A feature that `#if` leaves out.
    public static func buildBlock() -> (any Feature.Type)? { nil }
    /// A feature that is in this build.
    public static func buildBlock(_ type: any Feature.Type) -> (any Feature.Type)? { type }
}

/// What is known about a feature before any of its code runs.
public struct Manifest: Sendable {
    /// Lower-case words joined by dots. Action ids and settings begin with it.
    public let id: String
    /// One line, without a final stop.
    public let summary: String
    /// The version of the feature, as people write it: `0.1.0`.
    public let version: String
    /// The capabilities that it offers to other features.
    public let provides: [Provision]
    /// The capabilities of other features that it looks up.
    public let needs: [Need]
    /// The settings that it reads.
    public let settings: [SettingDeclaration]
    /// What its action ids may begin with, such as a first word; only its id by default.
    public let namespaces: [String]
    /// The summaries of its command groups, by their words joined by dots, if the feature's summary does not fit.
    public let groups: [String: String]
    /// The actions that get words of a command line as they are, options too, by their ids: how many words each takes before
    /// that. Such words belong to something else, such as a tool of a server.
    public let verbatim: [String: Int]
    /// The environment variables that it reads besides those of settings, and what each is for. Some hold secrets.
    public let variables: [String: String]

    /// - Parameter namespaces: nil for the id alone.
    public init(
        id: String, summary: String, version: String, provides: [Provision] = [], needs: [Need] = [],
        settings: [SettingDeclaration] = [], namespaces: [String]? = nil,
        groups: [String: String] = [:], verbatim: [String: Int] = [:], variables: [String: String] = [:]
    ) {
        self.id = id
        self.summary = summary
        self.version = version
        self.provides = provides
        self.needs = needs
        self.settings = settings
        self.namespaces = namespaces ?? [id]
        self.groups = groups
        self.verbatim = verbatim
        self.variables = variables
    }
}

/// The protocol of a capability as a value, for manifests.
public struct CapabilityType: Sendable, Hashable, CustomStringConvertible {
    private let type: any Any.Type

    @usableFromInline
    init(_ type: any Any.Type) {
        self.type = type
    }

    var id: ObjectIdentifier { ObjectIdentifier(type) }

    /// The protocol's name, without `any` and module.
    public var description: String {
        // Interpolating a type only looks up its name. `String(describing:)` first checks, slowly, for a custom
        // description.
        let name = "\(type)"
        return name.hasPrefix("any ") ? String(name.dropFirst(4)) : name
    }

    public static func == (left: CapabilityType, right: CapabilityType) -> Bool { left.id == right.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A capability that a feature offers to others.
public struct Provision: Sendable, Hashable {
    /// The protocol that the provider conforms to.
    public let capability: CapabilityType
    let kind: Kind

    enum Kind: Sendable, Hashable { case single, shared, fallback }

    /// The only provider; a second one is a problem of the composition.
    public static func single<C>(_ capability: C.Type) -> Provision {
        Provision(capability: CapabilityType(capability), kind: .single)
    }

    /// One provider among any number.
    public static func shared<C>(_ capability: C.Type) -> Provision {
        Provision(capability: CapabilityType(capability), kind: .shared)
    }

    /// Used only if there is no other provider.
    public static func fallback<C>(_ capability: C.Type) -> Provision {
        Provision(capability: CapabilityType(capability), kind: .fallback)
    }
}

/// A capability that a feature uses.
public struct Need: Sendable, Hashable {
    /// The protocol that is looked up.
    public let capability: CapabilityType
    /// How many providers it needs.
    public let kind: Kind

    /// Only `one` affects the start order, can be missing, and can be part of a cycle.
    public enum Kind: Sendable, Hashable { case one, optional, all }

    /// Exactly one provider, which is required.
    public static func one<C>(_ capability: C.Type) -> Need {
        Need(capability: CapabilityType(capability), kind: .one)
    }

    /// One provider if there is one.
    public static func optional<C>(_ capability: C.Type) -> Need {
        Need(capability: CapabilityType(capability), kind: .optional)
    }

    /// All providers, possibly none.
    public static func all<C>(_ capability: C.Type) -> Need {
        Need(capability: CapabilityType(capability), kind: .all)
    }
}

/// A check of `martlet doctor`.
public struct HealthCheck: Sendable {
    /// A stable dotted id that begins with the feature's id.
    public let id: String
    /// The subject of the check, as a noun: "the settings folder".
    public let summary: String
    /// Runs the check. After a time limit it counts as failed.
    public let look: @Sendable (Host) async -> Finding

    /// - Parameter look: runs the check, within a time limit.
    public init(_ id: String, _ summary: String, look: @escaping @Sendable (Host) async -> Finding) {
        self.id = id
        self.summary = summary
        self.look = look
    }

    /// The result of the check, and how to fix a problem.
    public enum Finding: Sendable, Hashable {
        /// Nothing is wrong; the text says what was found.
        case ok(String)
        /// Something may become a problem; `mend` says what to do about it.
        case warning(String, mend: String)
        /// Something does not work; `mend` says what to do about it.
        case failure(String, mend: String)
    }
}

/// A library that a feature uses, for `version` and bug reports.
public struct Library: Sendable {
    /// The name of the library, such as `libcurl`.
    public let name: String
    /// The version that the loaded library reports. For a library that is opened only when used, the version compiled
    /// against.
    public let version: @Sendable () -> String
    /// The installed version. Opens a library that is not linked, and throws if it cannot be used.
    public let installed: @Sendable () throws -> String

    /// A library that is linked.
    public init(_ name: String, version: @escaping @Sendable () -> String) {
        self.init(name, version: version, installed: version)
    }

    /// A library that is opened at first use.
    public init(
        _ name: String, version: @escaping @Sendable () -> String, installed: @escaping @Sendable () throws -> String
    ) {
        self.name = name
        self.version = version
        self.installed = installed
    }
}

extension SettingsCatalogue {
    /// All settings of the features in a build, and the names of features that are not in it.
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
    /// How to get a feature that is not in this build, while keeping those that are.
    func mend(in list: [BuiltInFeature]) -> String {
        let traits = list.filter { !$0.isEssential && ($0.type != nil || $0.trait == trait) }.map(\.trait)
        return "build with 'make build TRAITS=\(traits.joined(separator: ","))'"
    }
}
