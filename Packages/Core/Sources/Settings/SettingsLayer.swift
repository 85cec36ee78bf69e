import Capabilities
public import JSON

/// The settings of one origin, with their positions if they come from a file.
public struct SettingsLayer: Sendable {
    /// Where all of its values come from.
    public let origin: SettingsOrigin
    /// The values as nested objects, by the words of their keys.
    public let value: JSONObject
    private let document: JSONDocument?

    /// A layer that has no positions, because it does not come from a file.
    public init(origin: SettingsOrigin, value: JSONObject) {
        self.origin = origin
        self.value = value
        document = nil
    }

    /// Reads a settings file's text.
    ///
    /// - Throws: the problem with its line and column if the text is not a JSON5 object.
    public init(origin: SettingsOrigin, text: [UInt8]) throws(SettingsProblem) {
        let document: JSONDocument
        do {
            document = try JSONDocument(parsing: text, name: origin.words)
        } catch {
            throw SettingsProblem(
                origin: origin, line: error.line, column: error.column, key: error.path, message: error.message)
        }
        guard let object = document.value.object else {
            throw SettingsProblem(
                origin: origin, line: 1, column: 1,
                message: "settings must be an object in braces, not \(document.value.kindName)")
        }
        self.origin = origin
        self.value = object
        self.document = document
    }

    /// A problem with its position in the file: that of the key if the key is wrong, otherwise that of the value.
    func problem(at key: [String], _ message: String, isAboutKey: Bool = false) -> SettingsProblem {
        var place = isAboutKey ? document?.keyPosition(of: key) : document?.position(of: key)
        // A missing value has no position, so the position of the object around it is used.
        for depth in key.indices.reversed() where place == nil { place = document?.position(of: Array(key[..<depth])) }
        return SettingsProblem(origin: origin, line: place?.line, column: place?.column, key: key, message: message)
    }
}

/// The origin of a value, from the weakest to the strongest.
public enum SettingsOrigin: Sendable, Hashable {
    /// Declared in the program.
    case builtIn
    /// A settings file of the machine's administrator.
    case system(file: String)
    /// The person's settings file.
    case user(file: String)
    /// A project's settings file.
    case project(file: String)
    /// The profile in use.
    case profile(String)
    /// An environment variable.
    case environment(variable: String)
    /// An option of the command line.
    case flag

    /// The word that `config show --origin` prints.
    public var words: String {
        switch self {
        case .builtIn: "built in"
        case .system(let file), .user(let file), .project(let file): file
        case .profile(let name): "profile \(name)"
        case .environment(let variable): "$\(variable)"
        case .flag: "command line"
        }
    }

    /// The file, if the value comes from one.
    public var file: String? {
        switch self {
        case .system(let file), .user(let file), .project(let file): file
        default: nil
        }
    }

    /// Whether it applies to this run only: from the environment or a flag.
    var isOverride: Bool {
        switch self {
        case .environment, .flag: true
        default: false
        }
    }
}

/// `--set key=value` as a layer, which is the strongest.
public enum SettingsFlags {
    /// - Throws: a problem that names the key as it was typed.
    public static func layer(_ flag: String, catalogue: SettingsCatalogue) throws(SettingsProblem) -> SettingsLayer {
        guard let equals = flag.firstIndex(of: "="), equals != flag.startIndex else {
            throw SettingsProblem(
                origin: .flag,
                message: "--set needs key=value, such as --set profile=work, not \(flag.quotedForMessage)")
        }
        let key = SettingsCatalogue.path(flag[..<equals])
        guard let declaration = catalogue.declaration(of: key) else {
            throw SettingsProblem(origin: .flag, key: key, message: catalogue.unknown(key))
        }
        do {
            let value = try declaration.schema.json(fromWord: String(flag[flag.index(after: equals)...]))
            return SettingsLayer(origin: .flag, value: .nested(key, value))
        } catch {
            throw SettingsProblem(origin: .flag, key: key, message: error.description)
        }
    }
}

/// The environment as a layer: `chat.max-rounds` is `MARTLET_CHAT_MAX_ROUNDS`.
public struct SettingsVariables: Sendable {
    /// The prefix of all our variables.
    public static let prefix = "MARTLET_"

    /// The variable of a setting.
    public static func name(of key: [String]) -> String {
        prefix + key.joined(separator: "_").uppercased().replacingHyphens
    }

    /// One layer for each variable that is valid, sorted by name.
    public let layers: [SettingsLayer]
    /// The variables whose value does not have the shape of the setting.
    public let problems: [SettingsProblem]
    /// The variables that match no setting. Those of features that are not in this build are left out.
    public let unknown: [String]

    /// The variable that was most likely meant.
    public static func nearest(to variable: String, _ catalogue: SettingsCatalogue) -> String? {
        Suggestion.nearest(to: variable, among: catalogue.declarations.map { name(of: $0.key) })
    }

    /// - Parameter reserved: variables with our prefix that are not settings, such as the one for the home folder.
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
    /// An object with a single value at the end of a path.
    public static func nested(_ path: [String], _ value: JSON) -> JSONObject {
        guard let first = path.first else { return [:] }
        return [first: path.count == 1 ? value : .object(nested(Array(path.dropFirst()), value))]
    }
}

extension String {
    fileprivate var replacingHyphens: String { String(map { $0 == "-" || $0 == "." ? "_" : $0 }) }
}
