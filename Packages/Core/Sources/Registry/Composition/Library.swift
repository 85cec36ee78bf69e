/// A library below a feature, for `version` and bug reports.
public struct Library: Sendable {
    public let name: String
    /// Asks the library itself, so that the answer is what is loaded and not what was compiled against.
    public let version: @Sendable () -> String

    public init(_ name: String, version: @escaping @Sendable () -> String) {
        self.name = name
        self.version = version
    }
}
