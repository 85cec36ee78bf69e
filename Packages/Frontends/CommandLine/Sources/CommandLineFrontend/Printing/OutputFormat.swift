import Capabilities

/// How a result is printed.
enum OutputFormat: String, Choice {
    case text, json, ndjson, csv, markdown

    /// Every word that is understood, with the name that other programs have for NDJSON.
    static var words: [String] { allCases.map(\.rawValue) + ["stream-json"] }

    init?(word: String) {
        self.init(rawValue: word == "stream-json" ? "ndjson" : word)
    }

    /// Whether messages and errors are for a program too.
    var isForPrograms: Bool { self == .json || self == .ndjson }
}
