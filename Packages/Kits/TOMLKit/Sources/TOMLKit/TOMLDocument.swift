public import JSON

/// A TOML file as a value.
///
///     let document = try TOMLDocument(parsing: bytes, name: "config.toml")
///     document.value["servers"]?["git"]
///
/// Dates and times become texts, and so do the numbers that JSON does not have.
public struct TOMLDocument: Sendable {
    /// The name of the file, for messages.
    public let name: String
    /// The value of the text, which is an object.
    public let value: JSON

    /// Parses a UTF-8 text. Throws `TOMLError` with the line and column of the first problem.
    public init(parsing text: [UInt8], name: String, limits: TOMLLimits = TOMLLimits()) throws(TOMLError) {
        self.name = name
        var reader = try TOMLReader(text, limits: limits)
        value = try reader.document()
    }
}

/// Limits for a document.
public struct TOMLLimits: Sendable, Hashable {
    /// The size of the text.
    public var bytes = 4 << 20
    /// The number of values and tables.
    public var values = 100_000
    /// The nesting depth of tables and arrays.
    public var depth = 64

    /// The default limits, which suit files that a person writes.
    public init() {}
}
