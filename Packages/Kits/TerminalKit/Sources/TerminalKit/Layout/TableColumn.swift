/// One column of a ``Table``.
public struct TableColumn: Sendable, Hashable {
    /// What stands above the column.
    public var title: String
    /// The side its cells are put on; numbers read best trailing.
    public var alignment: TextAlignment
    /// Whether its cells may end in an ellipsis when the table is too wide; not for what people copy, such as ids.
    public var mayTruncate: Bool
    /// What a column that may be truncated keeps at least.
    public var minimumWidth: Int
    /// Columns of lower priority shrink first.
    public var priority: Int

    /// A column.
    public init(
        _ title: String, alignment: TextAlignment = .leading, mayTruncate: Bool = false, minimumWidth: Int = 8,
        priority: Int = 0
    ) {
        self.title = title
        self.alignment = alignment
        self.mayTruncate = mayTruncate
        self.minimumWidth = max(1, minimumWidth)
        self.priority = priority
    }
}
