import Synchronization

/// How tools are called by those who offer them. Models know them by other names, because most providers take neither
/// dots nor long names.
final class ToolNames: Sendable {
    private let names = Mutex<[String: [String: String]]>([:])

    func learn(_ name: String, of source: String) {
        names.withLock { names in
            names[source, default: [:]][Self.plain(name)] = name
            names[source, default: [:]][Self.plain("\(source)_\(name)")] = name
        }
    }

    /// The name that a source itself uses.
    func own(_ name: String, of source: String?) -> String {
        guard let source else { return name }
        return names.withLock { $0[source]?[name] } ?? name
    }

    /// As `TurnLoop` makes them: letters, digits, `_` and `-`, up to 64.
    static func plain(_ name: String) -> String {
        String(
            name.unicodeScalars.prefix(64).map { scalar -> Character in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "_", "-": Character(scalar)
                default: "_"
                }
            })
    }
}
