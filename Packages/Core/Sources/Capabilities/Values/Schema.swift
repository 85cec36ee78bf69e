public import JSON

/// The shape of a value that crosses the registry: a parameter, a setting or a result.
///
/// One schema serves every surface: it parses a command-line word, checks a bundle's JSON, becomes a
/// JSON Schema for an MCP host and tells a frontend how to print the value.
public indirect enum Schema: Sendable, Hashable {
    case any
    case boolean
    case integer(ClosedRange<Int>?)
    case number(ClosedRange<Double>?)
    case string
    case choice([String])
    case path(PathPurpose)
    case url
    /// A host, host:port or address.
    case host
    case duration
    /// A number of bytes.
    case size(ClosedRange<Int>?)
    case time
    case secret
    /// What a secret is called.
    case secretName
    /// The name of a program that is to be run.
    case program
    case array(Schema)
    case map(Schema)
    case record([Property])
    case optional(Schema)

    /// A named member of a record.
    public struct Property: Sendable, Hashable {
        public let name: String
        public let summary: String
        public let schema: Schema
        public let role: Role
        /// Words of JSON Schema for what only the reader of the value checks, such as `minItems`.
        public let keywords: JSONObject

        public init(
            _ name: String, _ summary: String, _ schema: Schema, role: Role = .plain, keywords: JSONObject = [:]
        ) {
            self.keywords = keywords
            self.name = name
            self.summary = summary
            self.schema = schema
            self.role = role
        }
    }

    /// How a frontend should treat a member: a role and never a colour.
    public enum Role: Sendable, Hashable {
        /// Shown as it is.
        case plain
        /// What the row is called.
        case name
        /// A state word (`ok`, `failed`…), shown so that trouble stands out.
        case state
        /// The first to go where a table is too wide, which then names it.
        case minor
        /// Left out of tables, shown when one record is printed.
        case detail
    }

    /// The schema without its optionality.
    public var unwrapped: Schema {
        if case .optional(let inner) = self { inner.unwrapped } else { self }
    }

    /// Whether a value may be left out.
    public var isOptional: Bool {
        if case .optional = self { true } else { false }
    }

    /// The schema of one element when the value may be given several times.
    public var element: Schema? {
        if case .array(let element) = unwrapped { element } else { nil }
    }
}
