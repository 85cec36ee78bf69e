/// Where a value comes from, from the weakest to the strongest.
public enum SettingsOrigin: Sendable, Hashable {
    case builtIn
    case system(file: String)
    case user(file: String)
    case project(file: String)
    case profile(String)
    case environment(variable: String)
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

    /// The file, where the value stands in one.
    public var file: String? {
        switch self {
        case .system(let file), .user(let file), .project(let file): file
        default: nil
        }
    }

    /// Whether it was said for this run, by the environment or a flag.
    var isOverride: Bool {
        switch self {
        case .environment, .flag: true
        default: false
        }
    }
}
