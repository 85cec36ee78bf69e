public import Capabilities

/// Something wrong in the settings, with the place where to mend it.
public struct SettingsProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public let origin: SettingsOrigin
    public let line: Int?
    public let column: Int?
    /// The key, from the outside in; empty when the whole file is meant.
    public let key: [String]
    public let message: String

    public init(origin: SettingsOrigin, line: Int? = nil, column: Int? = nil, key: [String] = [], message: String) {
        self.origin = origin
        self.line = line
        self.column = column
        self.key = key
        self.message = message
    }

    /// `file:line:column: key: message`, as editors and people expect it.
    public var description: String {
        var place = origin.words
        if let line, let column { place += ":\(line):\(column)" }
        return key.isEmpty ? "\(place): \(message)" : "\(place): \(key.joined(separator: ".")): \(message)"
    }
}

/// All that is wrong in the settings, said at once.
public struct SettingsFailure: Failure {
    public let problems: [SettingsProblem]

    public init(_ problems: [SettingsProblem]) {
        self.problems = problems
    }

    public var code: String { "settings.invalid" }
    public var exit: ExitCode { .usage }
    public var message: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
