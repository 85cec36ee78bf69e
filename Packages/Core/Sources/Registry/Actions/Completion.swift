public import Capabilities
public import JSON
import Settings

/// How a shell completes a value.
public enum Completion: Sendable {
    /// Finds candidates when they are needed. They may depend on the arguments given so far; a setting has none. It must
    /// answer at once: it may read files that exist, and must not create or change any, contact a server, ask the person,
    /// or offer a secret. What cannot be listed gives no candidates.
    public typealias Source = @Sendable (Registry, Host, _ given: JSONObject) -> [Candidate]

    /// The shell offers nothing.
    case nothing
    /// One of these words.
    case words([String])
    /// The files and folders of the machine.
    case files
    /// Only folders.
    case directories
    /// Candidates that are found when needed.
    case dynamic(Source)
    /// Candidates that are found when needed, besides the files and folders of the machine.
    case dynamicOrFiles(Source)

    /// A word that a shell may complete.
    public struct Candidate: Sendable, Hashable {
        /// What the command line gets.
        public let word: String
        /// What the word means, such as the title of a conversation, for shells that show it; empty for nothing.
        public let summary: String

        /// A word with its meaning. Both may come from outside; the frontend leaves out words that cannot be typed.
        public init(_ word: String, _ summary: String = "") {
            self.word = word
            self.summary = summary
        }
    }

    /// Derives the completion from the type. A setting has the same as a parameter of its type.
    public init(_ schema: Schema) {
        switch schema.unwrapped {
        case .choice(let names): self = .words(names)
        case .boolean: self = .words(["true", "false"])
        case .path: self = .files
        case .array(let element): self = Completion(element)
        default: self = .nothing
        }
    }

    /// The names of profiles, with the addresses of their servers.
    public static let profiles = Completion.dynamic { _, host, _ in
        host.settings.profiles.map { name in
            Candidate(name, host.settings[["profiles", name, "server"]]?.value.string ?? "")
        }
    }

    /// The candidates of another feature's parameter, such as the projects of the gateway; none if that feature is not
    /// available.
    public static func like(_ parameter: String, of action: String) -> Completion {
        .dynamic { registry, host, given in
            let found = registry.actions[action]?.parameters.first { $0.name == parameter }
            return switch found?.completion {
            case .dynamic(let find), .dynamicOrFiles(let find): find(registry, host, given)
            default: []
            }
        }
    }

    /// The words for the value of a setting whose key is another argument, such as those of `config set`. Files are not
    /// among them, because only the setting says whether its value is one.
    public static func values(ofSettingIn parameter: String) -> Completion {
        .dynamic { registry, host, given in
            let key = given[parameter]?.string.map { SettingsCatalogue.path($0) } ?? []
            switch Completion.value(ofSetting: key, registry, host) {
            case nil, .nothing, .files, .directories: return []
            case .words(let words): return words.map { Candidate($0) }
            case .dynamic(let find), .dynamicOrFiles(let find): return find(registry, host, [:])
            }
        }
    }

    /// The completion of the value of a setting; nil if there is no such setting.
    public static func value(ofSetting key: [String], _ registry: Registry, _ host: Host) -> Completion? {
        guard let setting = host.catalogue.declaration(of: key) else { return nil }
        if key == ["profile"] { return .profiles }
        // A profile may contain every setting: `profiles.lab.chat.model` has the values of `chat.model`.
        let own = key.first == "profiles" ? key.dropFirst(2) : key[...]
        return registry.settingCompletions[own.joined(separator: ".")] ?? Completion(setting.schema)
    }
}
