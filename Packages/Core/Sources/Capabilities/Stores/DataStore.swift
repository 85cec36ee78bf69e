/// Data that a feature stores on this machine, so that people can check, back up and restore all data in the same way.
public protocol DataStore: AnyObject, Sendable {
    /// A dotted id that begins with the feature's id.
    var id: String { get }
    /// What is stored there.
    var summary: String { get }
    /// The file or folder that holds the data. It may not exist yet.
    var location: String { get }
    /// Checks for damage; an empty list means that there is none.
    func check() async throws -> [String]
    /// Writes a copy that `restore` accepts. The store may be in use meanwhile.
    func backup(to path: String) async throws
    /// Throws if `restore` would not accept a copy. Changes nothing.
    func verify(_ copy: String) async throws
    /// Replaces the data with a copy, after checking that the copy is intact.
    func restore(from path: String) async throws
    /// Frees unused space and returns the number of bytes.
    func compact() async throws -> ByteCount
    /// Permanently removes deleted data that could still be restored, every trace in the files of data that is gone,
    /// and damaged files that were set aside. Throws if another program uses the data, and names it.
    func purge() async throws -> PurgedData
    /// Damaged files that were set aside when a new store was created.
    func setAside() throws -> [String]
    /// Who uses the data now and may continue with outdated content, such as `the gateway that runs here`.
    func user() throws -> String?
}

extension DataStore {
    public func setAside() throws -> [String] { [] }
    public func user() throws -> String? { nil }
}

/// What was permanently removed.
public struct PurgedData: Sendable, Hashable {
    /// How many deleted items were removed, such as conversations that could still be restored.
    public var removed = 0
    /// The files that had been set aside as damaged.
    public var setAside: [String] = []
    /// How much less space the data takes than before.
    public var freed = ByteCount(0)

    /// Nothing was removed yet; the store counts what it removes.
    public init() {}
}
