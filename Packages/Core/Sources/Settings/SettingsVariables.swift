import Capabilities
public import JSON

/// The environment as a layer: `chat.max-rounds` is `MARTLET_CHAT_MAX_ROUNDS`.
public struct SettingsVariables: Sendable {
    /// What every variable of ours begins with.
    public static let prefix = "MARTLET_"

    /// The variable of a setting.
    public static func name(of key: [String]) -> String {
        prefix + key.joined(separator: "_").uppercased().replacingHyphens
    }

    public let layers: [SettingsLayer]
    public let problems: [SettingsProblem]
    public let unknown: [String]

    /// The variable that was most likely meant.
    public static func nearest(to variable: String, _ catalogue: SettingsCatalogue) -> String? {
        Suggestion.nearest(to: variable, among: catalogue.declarations.map { name(of: $0.key) })
    }

    /// - Parameter reserved: variables with our prefix that are no settings, such as the one for the home folder.
    public init(environment: [String: String], catalogue: SettingsCatalogue, reserved: Set<String> = []) {
        let ours = environment.filter { $0.key.hasPrefix(Self.prefix) && !reserved.contains($0.key) }
        var layers: [SettingsLayer] = []
        var problems: [SettingsProblem] = []
        var unknown: [String] = []
        if !ours.isEmpty {
            var declared: [String: SettingDeclaration] = [:]
            for declaration in catalogue.declarations { declared[Self.name(of: declaration.key)] = declaration }
            for (variable, word) in ours.sorted(by: { $0.key < $1.key }) {
                guard let declaration = declared[variable] else {
                    let isOfAbsent = catalogue.absent.keys.contains { variable.hasPrefix(Self.name(of: [$0]) + "_") }
                    if !isOfAbsent { unknown.append(variable) }
                    continue
                }
                let origin = SettingsOrigin.environment(variable: variable)
                do {
                    let value = try declaration.schema.json(fromWord: word)
                    layers.append(SettingsLayer(origin: origin, value: .nested(declaration.key, value)))
                } catch {
                    problems.append(SettingsProblem(origin: origin, message: error.description))
                }
            }
        }
        self.layers = layers
        self.problems = problems
        self.unknown = unknown
    }
}

extension JSONObject {
    /// An object that holds one value at the end of a path.
    public static func nested(_ path: [String], _ value: JSON) -> JSONObject {
        guard let first = path.first else { return [:] }
        return [first: path.count == 1 ? value : .object(nested(Array(path.dropFirst()), value))]
    }
}

extension String {
    fileprivate var replacingHyphens: String { String(map { $0 == "-" || $0 == "." ? "_" : $0 }) }
}
