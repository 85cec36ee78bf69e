/// The settings of a feature as a single value, for features with too many settings to list twice. Each setting is bound
/// to a property.
///
/// ```swift
/// struct WeatherSettings: SettingsRecord {
///     var units = Units.metric
///     var places: [String] = []
///
///     static let bindings = [
///         bind({ $0.units = $1 }, Setting("units", "Units of measure", default: Units.metric)),
///         bind({ $0.places = $1 }, Setting("places", "Cities to show", default: [String]())),
///     ]
/// }
/// ```
public protocol SettingsRecord: Sendable {
    /// Creates a value whose properties are then set from the settings.
    init()
    /// The settings, in the order of the documentation.
    static var bindings: [SettingBinding<Self>] { get }
}

extension SettingsRecord {
    /// Binds a setting to a property. The property is given as a closure that sets it: every command reads the settings
    /// of all features at its start, and a key path takes microseconds to create. The setting is a closure because a
    /// caller that holds it would look up its generic type, which takes as long as ten key paths.
    public static func bind<Value>(
        _ set: @escaping @Sendable (inout Self, Value) -> Void, _ setting: @autoclosure () -> Setting<Value>
    ) -> SettingBinding<Self> {
        let setting = setting()
        return SettingBinding(declaration: setting.declaration) { record, settings in set(&record, settings[setting]) }
    }

    /// The declarations, for the feature's manifest.
    public static var declarations: [SettingDeclaration] { bindings.map(\.declaration) }

    /// Reads the effective values.
    public init(reading settings: FeatureSettings) {
        self.init()
        for binding in Self.bindings { binding.set(&self, settings) }
    }
}

/// A setting with its property.
public struct SettingBinding<Record>: Sendable {
    public let declaration: SettingDeclaration
    fileprivate let set: @Sendable (inout Record, FeatureSettings) -> Void
}
