/// How large a document may be.
public struct YAMLLimits: Sendable, Hashable {
    /// Bytes of the text.
    public var bytes = 4 << 20
    /// Values of the tree, with each alias counted as what it stands for.
    public var values = 100_000
    /// Bytes of all texts and keys, with each alias counted as what it stands for: what it takes to write the tree out.
    public var expandedBytes = 16 << 20
    /// How deep lists and maps nest.
    public var depth = 64

    public init() {}
}
