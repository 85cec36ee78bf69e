import CSQLite

extension Connection {
    /// Runs one statement; of INSERT, UPDATE and DELETE it tells how many rows changed.
    @discardableResult
    public func run<each Value: Storable>(_ sql: SQL, _ values: repeat each Value) throws -> Int {
        try withStatement(sql, list(repeat each values)) { statement, handle in
            while try statement.step() {}
            return Int(unsafe sqlite3_changes64(handle.raw))
        }
    }

    /// All rows, each made into something by `row`.
    public func all<Element, each Value: Storable>(
        _ sql: SQL, _ values: repeat each Value, row: (borrowing Row) throws -> Element
    ) throws -> [Element] {
        try withStatement(sql, list(repeat each values)) { statement, _ in
            var elements: [Element] = []
            while try statement.step() { elements.append(try statement.lend(to: row)) }
            return elements
        }
    }

    /// The first row, or nil where there is none.
    public func first<Element, each Value: Storable>(
        _ sql: SQL, _ values: repeat each Value, row: (borrowing Row) throws -> Element
    ) throws -> Element? {
        try withStatement(sql, list(repeat each values)) { statement, _ in
            try statement.step() ? try statement.lend(to: row) : nil
        }
    }

    /// Lends one row after the other, so that a result of any size takes little memory. An error ends it.
    public func forEach<each Value: Storable>(
        _ sql: SQL, _ values: repeat each Value, row: (borrowing Row) throws -> Void
    ) throws {
        try withStatement(sql, list(repeat each values)) { statement, _ in
            while try statement.step() { try statement.lend(to: row) }
        }
    }

    /// Runs every statement of a text, such as a migration; there are no values and no rows.
    public func runScript(_ sql: SQL) throws {
        try Statement.runAll(sql.text, on: try ready())
    }

    /// The values of one call, so that no more than this is generic over them.
    private func list<each Value: Storable>(_ values: repeat each Value) -> [StoredValue] {
        var list: [StoredValue] = []
        for value in repeat each values { list.append(value.stored) }
        return list
    }
}
