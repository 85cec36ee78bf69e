public import Capabilities
public import JSON

/// A setting that a feature declares: its key below the feature's id, its meaning, type and default.
///
/// ```swift
/// static let units = Setting("units", "Units of measure", default: Units.metric)
/// ```
public struct Setting<Value: InputValue & OutputValue>: Sendable {
    /// The setting without its static type.
    public private(set) var declaration: SettingDeclaration
    let defaultValue: Value

    /// - Parameter flag: a common option that sets it for one run: `cacert` is `--cacert`.
    public init(
        _ key: String, _ summary: String, default defaultValue: Value, risk: SettingRisk = .none, flag: String? = nil
    ) {
        self.init(key, summary, Value.schema, defaultValue, risk, flag)
    }

    private init(
        _ key: String, _ summary: String, _ schema: Schema, _ defaultValue: Value, _ risk: SettingRisk, _ flag: String?
    ) {
        self.defaultValue = defaultValue
        declaration = SettingDeclaration(
            key: key.split(separator: ".").map(String.init), summary: summary, schema: schema,
            defaultValue: defaultValue.json, risk: risk, flag: flag)
    }
}

extension Setting {
    /// A list to which every layer adds its elements, so that no layer removes those of another.
    public func joiningLayers() -> Setting {
        var copy = self
        copy.declaration.joinsLayers = true
        return copy
    }
}

// MARK: Numbers within limits

extension Setting where Value == Int {
    /// A whole number within limits.
    public init(
        _ key: String, _ summary: String, in range: ClosedRange<Int>, default defaultValue: Int,
        risk: SettingRisk = .none, flag: String? = nil
    ) {
        self.init(key, summary, .integer(range), defaultValue, risk, flag)
    }
}

extension Setting where Value == Int? {
    /// An optional whole number within limits.
    public init(
        _ key: String, _ summary: String, in range: ClosedRange<Int>, risk: SettingRisk = .none, flag: String? = nil
    ) {
        self.init(key, summary, .optional(.integer(range)), nil, risk, flag)
    }
}

extension Setting where Value == Double {
    /// A number within limits.
    public init(
        _ key: String, _ summary: String, in range: ClosedRange<Double>, default defaultValue: Double,
        risk: SettingRisk = .none, flag: String? = nil
    ) {
        self.init(key, summary, .number(range), defaultValue, risk, flag)
    }
}

extension Setting where Value == Double? {
    /// An optional number within limits.
    public init(
        _ key: String, _ summary: String, in range: ClosedRange<Double>, risk: SettingRisk = .none,
        flag: String? = nil
    ) {
        self.init(key, summary, .optional(.number(range)), nil, risk, flag)
    }
}

extension Setting where Value == ByteCount {
    /// A size within limits.
    public init(
        _ key: String, _ summary: String, in range: ClosedRange<ByteCount>, default defaultValue: ByteCount,
        risk: SettingRisk = .none, flag: String? = nil
    ) {
        self.init(key, summary, .size(range.lowerBound.bytes...range.upperBound.bytes), defaultValue, risk, flag)
    }
}

/// The risk of a setting for a person who opens a stranger's project.
public enum SettingRisk: String, Choice, Hashable {
    /// Harmless: a matter of taste.
    case none
    /// It names something to run.
    case runs
    /// It decides where data is sent.
    case sends
    /// It grants more rights than the person gave.
    case widens

    /// Why a project's value needs trust, as the rest of a sentence that begins with the setting; nil where it needs none.
    public var reason: String? {
        switch self {
        case .none: nil
        case .runs: "names something to run"
        case .sends: "decides where data is sent"
        case .widens: "widens what is allowed"
        }
    }
}

/// A setting without its static type, for the catalogue and the documents.
public struct SettingDeclaration: PropertyDeclaration {
    /// The key below the feature's id, from the outside in.
    public let key: [String]
    /// Its name is the key, joined by dots. It always has a default, which may be null.
    public let property: Schema.Property
    /// Why a project's value needs trust; `none` if it needs none.
    public let risk: SettingRisk
    /// The common option that sets it for one run.
    public let flag: String?
    /// Whether each layer adds to a list instead of replacing it.
    public fileprivate(set) var joinsLayers = false

    /// Whether what several layers set is put together, instead of the strongest one replacing the others.
    public var isPutTogether: Bool {
        if case .map = schema.unwrapped { true } else { joinsLayers }
    }

    /// Features declare a `Setting` instead.
    public init(
        key: [String], summary: String, schema: Schema, defaultValue: JSON, risk: SettingRisk, flag: String? = nil
    ) {
        self.key = key
        property = Schema.Property(key.joined(separator: "."), summary, schema, defaultValue: defaultValue)
        self.risk = risk
        self.flag = flag
    }

    /// The same setting below a prefix.
    func under(_ prefix: [String]) -> SettingDeclaration {
        var copy = SettingDeclaration(
            key: prefix + key, summary: summary, schema: schema, defaultValue: defaultValue ?? .null, risk: risk,
            flag: flag)
        copy.joinsLayers = joinsLayers
        return copy
    }
}
