/// One column of a ``Table``.
public struct TableColumn: Sendable, Hashable {
    /// What stands above the column.
    public var title: String
    /// The side its cells are put on; numbers read best trailing.
    public var alignment: TextAlignment
    /// Whether its cells may take several lines when the table is too wide; not for what people copy, such as ids.
    public var mayWrap: Bool
    /// What a column that may wrap keeps at least; narrower ones break every word.
    public var minimumWidth: Int

    /// A column.
    public init(
        _ title: String, alignment: TextAlignment = .leading, mayWrap: Bool = false, minimumWidth: Int = 14
    ) {
        self.title = title
        self.alignment = alignment
        self.mayWrap = mayWrap
        self.minimumWidth = max(2, minimumWidth)
    }
}
