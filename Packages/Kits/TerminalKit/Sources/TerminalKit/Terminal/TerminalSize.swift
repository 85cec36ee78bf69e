/// The columns and rows of a terminal.
public struct TerminalSize: Sendable, Hashable {
    /// How many characters fit beside each other.
    public var columns: Int
    /// How many lines fit below each other.
    public var rows: Int

    /// A size of `columns` by `rows`.
    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}
