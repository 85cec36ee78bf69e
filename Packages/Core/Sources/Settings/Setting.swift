public import Capabilities
public import JSON

/// A setting that a feature declares: its key below the feature's id, its meaning, type and default.
///
/// ```swift
/// static let units = Setting("units", "Units of measure", default: Units.metric)
/// ```
public struct Setting<Value: InputValue & OutputValue>: Sendable {
    public private(set) var declaration: SettingDeclaration
    let standard: Value

    /// - Parameter flag: an option that sets it for one run, with every command: `cacert` is `--cacert`.
    public init(
        _ key: String, _ summary: String, default standard: Value, risk: SettingRisk = .none, flag: String? = nil
    ) {
        self.init(key, summary, Value.schema, standard, risk, flag)
    }

    private init(
        _ key: String, _ summary: String, _ schema: Schema, _ standard: Value, _ risk: SettingRisk, _ flag: String?
    ) {
        self.standard = standard
        declaration = SettingDeclaration(
            key: key.split(separator: ".").map(String.init), summary: summary, schema: schema,
            standard: standard.json, risk: risk, flag: flag)
    }
}

extension Setting {
    /// A list of which every layer adds its part, so that no layer takes away what another one says.
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
        _ key: String, _ summary: String, in range: ClosedRange<Int>, default standard: Int,
        risk: SettingRisk = .none, flag: String? = nil
    ) {
        self.init(key, summary, .integer(range), standard, risk, flag)
    }
}

extension Setting where Value == Int? {
    /// A whole number within limits, or none.
    public init(
        _ key: String, _ summary: String, in range: ClosedRange<Int>, risk: SettingRisk = .none, flag: String? = nil
    ) {
        self.init(key, summary, .optional(.integer(range)), nil, risk, flag)
    }
}

extension Setting where Value == Double {
    /// A number within limits.
    public init(
        _ key: String, _ summary: String, in range: ClosedRange<Double>, default standard: Double,
        risk: SettingRisk = .none, flag: String? = nil
    ) {
        self.init(key, summary, .number(range), standard, risk, flag)
    }
}

extension Setting where Value == Double? {
    /// A number within limits, or none.
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
        _ key: String, _ summary: String, in range: ClosedRange<ByteCount>, default standard: ByteCount,
        risk: SettingRisk = .none, flag: String? = nil
    ) {
        self.init(key, summary, .size(range.lowerBound.bytes...range.upperBound.bytes), standard, risk, flag)
    }
}

/// What a setting could do to somebody who opens a stranger's project.
public enum SettingRisk: String, Choice, Hashable {
    /// Nothing but a matter of taste.
    case none
    /// It names something that is run.
    case runs
    /// It decides where something is sent.
    case sends
    /// It gives more rights than the person gave.
    case widens

    /// Why a project's value needs trust, as the rest of a sentence that begins with the setting; nil where it needs none.
    public var reason: String? {
        switch self {
        case .none: nil
        case .runs: "names something to run"
        case .sends: "decides where something is sent"
        case .widens: "widens what is allowed"
        }
    }
}

/// A setting without its static type, as the catalogue and the documents see it.
public struct SettingDeclaration: Sendable {
    /// Below the feature's id, from the outside in.
    public let key: [String]
    public let summary: String
    public let schema: Schema
    public let standard: JSON
    public let risk: SettingRisk
    /// The option of every command that sets it for one run.
    public let flag: String?
    /// Whether a list grows by what each layer says, and is not replaced.
    public fileprivate(set) var joinsLayers = false

    public init(
        key: [String], summary: String, schema: Schema, standard: JSON, risk: SettingRisk, flag: String? = nil
    ) {
        self.key = key
        self.summary = summary
        self.schema = schema
        self.standard = standard
        self.risk = risk
        self.flag = flag
    }

    /// The same setting below a prefix.
    func under(_ prefix: [String]) -> SettingDeclaration {
        var copy = SettingDeclaration(
            key: prefix + key, summary: summary, schema: schema, standard: standard, risk: risk, flag: flag)
        copy.joinsLayers = joinsLayers
        return copy
    }
}
