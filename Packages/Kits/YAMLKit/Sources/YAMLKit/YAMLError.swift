public import Capabilities

/// Why a text cannot be read as YAML, with the position.
public struct YAMLError: Failure, Hashable {
    /// The kind of problem.
    public enum Kind: String, Sendable {
        /// The text breaks the grammar, or is not UTF-8.
        case syntax
        /// A feature of YAML that this reader rejects, such as tags.
        case unsupported
        /// A key occurs twice in one map.
        case duplicateKey = "duplicate-key"
        /// The text is too large or nested too deep, possibly after expanding aliases.
        case limit
        /// A number that cannot be represented exactly.
        case number
    }

    /// The stable reason.
    public let kind: Kind
    public let message: String
    /// Counted from 1.
    public let line: Int
    /// Counted from 1, in Unicode scalars.
    public let column: Int

    init(_ kind: Kind, _ message: String, at place: YAMLPlace) {
        self.kind = kind
        self.message = message
        line = place.line
        column = place.column
    }

    public var code: String { "yaml.\(kind.rawValue)" }
    public var exit: ExitCode { .usage }

    /// The error as `file:line:column: message`, which editors understand.
    public func located(in file: String) -> String {
        "\(file):\(line):\(column): \(message)"
    }
}
