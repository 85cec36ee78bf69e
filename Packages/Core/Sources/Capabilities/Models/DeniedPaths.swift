/// Patterns for files and folders that are kept from tools, as `PathGlob` reads them.
public struct DeniedPaths: Sendable, Hashable {
    /// What no tool may open at all.
    public var reading: [String]
    /// What may be read and not written.
    public var writing: [String]

    public init(reading: [String] = [], writing: [String] = []) {
        self.reading = reading
        self.writing = writing
    }

    public var isEmpty: Bool { reading.isEmpty && writing.isEmpty }
}
