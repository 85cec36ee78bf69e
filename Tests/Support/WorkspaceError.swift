/// Why a test could not be prepared: what was run, and what it said.
public struct WorkspaceError: Error, CustomStringConvertible {
    /// The whole of it, for the report of the test.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
