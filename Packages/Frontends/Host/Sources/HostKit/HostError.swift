public import Capabilities

/// The errors of the host itself.
public enum HostError: Failure, Hashable {
    case badSetting(key: String, why: String)
    case noFile(String)
    case file(String)
    case unknownStore(String, known: [String])
    case editor(String)
    case nothingToTrust(String)
    case noDescriptors

    public var code: String {
        switch self {
        case .badSetting: "settings.invalid"
        case .noFile: "host.no-file"
        case .file: "host.file"
        case .unknownStore: "data.unknown-store"
        case .editor: "config.editor"
        case .nothingToTrust: "config.nothing-to-trust"
        case .noDescriptors: "host.no-descriptors"
        }
    }

    public var exit: ExitCode {
        switch self {
        case .badSetting, .unknownStore, .nothingToTrust: .usage
        case .editor: .toolFailed
        case .noFile, .file, .noDescriptors: .failed
        }
    }

    public var message: String {
        switch self {
        case .badSetting(let key, let why): "\(key): \(why)"
        case .noFile(let what), .file(let what), .editor(let what), .nothingToTrust(let what): what
        case .noDescriptors:
            "the limit on open files is too low; raise it, for example with 'ulimit -n 1024'"
        case .unknownStore(let id, let known):
            "there is no data store \(id.quotedForMessage)\(Suggestion.text(for: id, among: known)); "
                + (known.isEmpty ? "no feature here keeps data" : "known: \(known.joined(separator: ", "))")
        }
    }
}
