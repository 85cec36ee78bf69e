public import Capabilities
public import JSON

/// Something that a bundle is given when it runs.
public struct BundleInput: Sendable, Hashable {
    public var name: String
    public var kind: Kind
    public var summary: String?
    /// What it is when nobody says; without it the input has to be given.
    public var standard: JSON?
    /// Masked in everything that is written.
    public var isSecret = false

    public enum Kind: Sendable, Hashable {
        case string, integer, number, boolean, path, list, map
        case choice([String])

        /// The words of the file's `type`.
        static let names = ["string", "integer", "number", "boolean", "path", "list", "map", "choice"]
    }

    public init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// The shape of its value.
    public var schema: Schema {
        switch kind {
        case .string: .string
        case .integer: .integer(nil)
        case .number: .number(nil)
        case .boolean: .boolean
        case .path: .path(.any)
        case .list: .array(.any)
        case .map: .map(.any)
        case .choice(let names): .choice(names)
        }
    }

    public var isRequired: Bool { standard == nil }
}
