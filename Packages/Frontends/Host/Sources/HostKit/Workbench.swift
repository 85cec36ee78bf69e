public import Capabilities
public import FileKit
import Glibc
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

    /// Reads the settings and composes the features. It throws nothing: what is wrong is kept in `failure`, so that
    /// the actions that mend it can still be done.
    public init(
        name: String, version: String, features: [BuiltInFeature], options: Options = Options(),
        environment: [String: String] = Environment.snapshot()
    ) {
        let all = [BuiltInFeature(essential: HostFeature.self)] + features
        let catalogue = SettingsCatalogue(of: all)

        let loader = SettingsLoader(environment: environment, catalogue: catalogue)
        let settings = loader.load(flags: options.settings)
        let surroundings = Surroundings(
            environment: environment, locations: loader.locations, clock: ContinuousClock(), now: Timestamp.now)
        let composition = Composition(
            all, settings: settings, selection: .init(only: options.only), surroundings: surroundings)
        host = Host(
            name: name, version: version, surroundings: surroundings, settings: settings, catalogue: catalogue,
            composition: composition)
        if !settings.problems.isEmpty {
            failure = SettingsFailure(settings.problems)
        } else if !composition.problems.isEmpty {
            failure = CompositionFailure(composition.problems)
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
