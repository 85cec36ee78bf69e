public import JSON

/// What the names of an expression stand for.
public struct Scope: Sendable {
    /// The values by their names, such as `inputs` and `steps`.
    public var values: [String: JSON]
    /// Whether all that this depends on went well; nil where that makes no sense.
    public var hasSucceeded: Bool?
    /// How many bytes a value may grow to.
    public var limit = 8 << 20

    public init(_ values: [String: JSON] = [:], hasSucceeded: Bool? = nil) {
        self.values = values
        self.hasSucceeded = hasSucceeded
    }
}
