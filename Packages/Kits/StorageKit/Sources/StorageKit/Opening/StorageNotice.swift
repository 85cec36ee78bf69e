/// Something that a person should know although the work went on.
public struct StorageNotice: Sendable, Hashable {
    /// What happened and where the old data is now, in a sentence without a final stop.
    public let message: String
    /// Where the damaged file was put.
    public let setAside: String
}
