public import Capabilities

/// Why a schema cannot be used.
public struct SchemaError: Failure, Hashable {
    /// What is wrong, each with its place in the schema, up to the limit.
    public let problems: [JSONSchema.Problem]
    /// Whether there are more problems than those listed.
    public let hasMore: Bool

    public var code: String { "schema.invalid" }
    public var exit: ExitCode { .usage }

    /// The problems as sentences, with a last one if there are more. "it" stands for the whole schema.
    public var sentences: [String] {
        problems.map(\.description) + (hasMore ? ["… and more"] : [])
    }

    public var message: String { "the JSON Schema is not valid: \(sentences.joined(separator: "; "))" }
}
