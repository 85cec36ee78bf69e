/// Why an expression cannot be read, or has no value.
public struct ExpressionError: Error, Sendable, Hashable {
    public let message: String
    /// Where in the text, in Unicode scalars from its beginning.
    public let offset: Int

    public init(_ message: String, at offset: Int) {
        self.message = message
        self.offset = offset
    }
}
