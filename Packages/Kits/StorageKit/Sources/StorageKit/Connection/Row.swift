/// One row of a result, lent while it is the current one.
public struct Row: ~Copyable {
    private let statement: Statement

    init(_ statement: Statement) {
        self.statement = statement
    }

    /// The value of a column, counted from 0, as the type that the caller wants: `let id: Int = try row[0]`.
    ///
    /// A value of another type is an error and never a silent zero; no value is one unless an optional is wanted.
    public subscript<Value: Storable>(column: Int) -> Value {
        get throws(StorageError) {
            let stored = try statement.value(at: column)
            guard let value = Value(stored: stored) else {
                throw StorageError(.mismatch, "column \(column) holds \(stored.name) that is no \(Value.self)")
            }
            return value
        }
    }
}

extension Statement {
    /// Lends the current row.
    func lend<Result>(to body: (borrowing Row) throws -> Result) throws -> Result {
        // A name for it, because the optimizer of Swift 6.3 aborts on a row that is passed on as it is made.
        let row = Row(self)
        return try body(row)
    }
}
