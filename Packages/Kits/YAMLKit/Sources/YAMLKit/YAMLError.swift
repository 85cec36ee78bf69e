public import Capabilities

/// Why a text is not the YAML that was asked for, and where.
public struct YAMLError: Failure, Hashable {
    /// The kind of problem.
    public enum Kind: String, Sendable {
        /// The text breaks the grammar, or is not UTF-8.
        case syntax
        /// Something that YAML has and this reader refuses, such as tags.
        case unsupported
        /// A key stands twice in one map.
        case duplicateKey = "duplicate-key"
        /// The text, or what its aliases stand for, is too large or too deep.
        case limit
        /// A number that cannot be kept as it is.
        case number
    }

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

/// Where something stands in a text.
struct YAMLPlace: Sendable, Hashable {
    /// Both counted from 1.
    var line = 1
    var column = 1
}
