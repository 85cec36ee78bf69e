/// Data that a feature keeps on this machine, so that people can check, save and restore all of it in one way.
public protocol DataStore: AnyObject, Sendable {
    /// A dotted id that begins with the feature's id.
    var id: String { get }
    /// What is kept there.
    var summary: String { get }
    /// The file or folder it lives in. It need not exist yet.
    var location: String { get }
    /// Looks for damage; an empty list means that there is none.
    func check() async throws -> [String]
    /// Writes a copy that `restore` takes, while the store may be in use.
    func backup(to path: String) async throws
    /// Looks whether `restore` would take a copy, and changes nothing; throws why it would not.
    func verify(_ copy: String) async throws
    /// Replaces the data by a copy, after the copy was found sound.
    func restore(from path: String) async throws
    /// Gives unused space back; tells how many bytes.
    func compact() async throws -> ByteCount
    /// Removes for good what was deleted and could be had back, every trace that the files have of what is gone, and the
    /// damaged files that were put beside them. Throws, with who it is, while another program works with the data.
    func purge() async throws -> PurgedData
    /// Damaged files that were put beside it when a new one was begun.
    func setAside() throws -> [String]
    /// Who works with the data at this moment and may go on with what it read before, such as `the gateway that runs here`.
    func user() throws -> String?
}

extension DataStore {
    public func setAside() throws -> [String] { [] }
    public func user() throws -> String? { nil }
}

/// What was taken away for good.
public struct PurgedData: Sendable, Hashable {
    /// How many things were kept although they had been deleted, such as conversations that could be had back.
    public var removed = 0
    /// The files that had been set aside as damaged.
    public var setAside: [String] = []
    public var freed = ByteCount(0)

    public init() {}
}
