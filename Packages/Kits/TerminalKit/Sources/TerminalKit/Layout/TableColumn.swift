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
    /// Whether the table may do without it.
    public var need: Need

    /// How much a table needs a column.
    public enum Need: Sendable, Hashable {
        /// Never left out.
        case always
        /// Left out before the table becomes records, the lowest number first.
        case ifItFits(Int)
        /// Left out before others become narrow, those on the left first.
        case ifThereIsRoom
    }

    /// A column.
    public init(
        _ title: String, alignment: TextAlignment = .leading, mayWrap: Bool = false, minimumWidth: Int = 14,
        need: Need = .always
    ) {
        self.title = title
        self.alignment = alignment
        self.mayWrap = mayWrap
        self.minimumWidth = max(2, minimumWidth)
        self.need = need
    }
}
