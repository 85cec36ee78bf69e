/// A library below a feature, for `version` and bug reports.
public struct Library: Sendable {
    public let name: String
    /// Asks the library itself, so that the answer is what is loaded and not what was compiled against; of a library that
    /// is opened only when it is used, what was compiled against.
    public let version: @Sendable () -> String
    /// What is installed; opens a library that is not linked, and throws when it cannot be used.
    public let installed: @Sendable () throws -> String

    /// A library that the program links.
    public init(_ name: String, version: @escaping @Sendable () -> String) {
        self.init(name, version: version, installed: version)
    }

    /// A library that is opened when it is first used.
    public init(
        _ name: String, version: @escaping @Sendable () -> String, installed: @escaping @Sendable () throws -> String
    ) {
        self.name = name
        self.version = version
        self.installed = installed
    }
}
