import CSQLite
import CStorageKit

/// Owns one prepared statement.
@safe
final class Statement {
    let sql: String
    private let handle: Handle
    private let raw: OpaquePointer

    init(_ sql: String, on handle: Handle) throws {
        let (prepared, rest) = unsafe try Self.prepare(sql, on: handle)
        guard let raw = unsafe prepared else {
            throw StorageError(.statement, "the statement is empty")
        }
        self.sql = sql
        self.handle = handle
        unsafe self.raw = raw
        // A second statement would be ignored silently.
        guard rest.allSatisfy(\.isWhitespace) else {
            throw StorageError(.statement, "the text has more than one statement; use runScript for several")
        }
    }

    deinit { unsafe sqlite3_finalize(raw) }

    /// Prepares the first statement of a text, and returns the rest.
    private static func prepare(_ sql: String, on handle: Handle) throws -> (OpaquePointer?, String) {
        var prepared: OpaquePointer?
        var sql = sql
        let (code, rest) = sql.withUTF8 { text in
            let start = unsafe UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
            var tail = unsafe start
            let code = unsafe sqlite3_prepare_v3(
                handle.raw, start, Int32(text.count), UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, &tail)
            guard let start = unsafe start, let tail = unsafe tail else { return (code, "") }
            let used = unsafe tail - start
            return (code, unsafe String(decoding: text[used...], as: UTF8.self))
        }
        try handle.check(code)
        return unsafe (prepared, rest)
    }

    /// Runs every statement of a text, one after the other.
    static func runAll(_ script: String, on handle: Handle) throws {
        var rest = script
        while !rest.isEmpty {
            let (prepared, tail) = unsafe try prepare(rest, on: handle)
            rest = tail
            // Comments and spaces alone are not a statement.
            guard let raw = unsafe prepared else { continue }
            defer { unsafe sqlite3_finalize(raw) }
            var code = SQLITE_ROW
            while code == SQLITE_ROW { code = unsafe sqlite3_step(raw) }
            guard code == SQLITE_DONE else { throw handle.failure(code) }
        }
    }

    // MARK: Running

    /// Binds the values to the placeholders. Their numbers must match.
    func bind(_ values: [StoredValue]) throws {
        let places = Int(unsafe sqlite3_bind_parameter_count(raw))
        guard places == values.count else {
            throw StorageError(
                .mismatch, "a statement has \(places) placeholders, but got \(values.count) values")
        }
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    }

    private func bind(_ value: StoredValue, at index: Int32) throws {
        let code =
            switch value {
            case .null: unsafe sqlite3_bind_null(raw, index)
            case .integer(let number): unsafe sqlite3_bind_int64(raw, index, number)
            case .real(let number):
                if number.isNaN {
                    throw StorageError(.mismatch, "NaN cannot be stored; store no value instead")
                } else {
                    unsafe sqlite3_bind_double(raw, index, number)
                }
            case .text(var text):
                text.withUTF8 { unsafe storage_bind_text(raw, index, $0.baseAddress, UInt64($0.count)) }
            case .blob(let bytes):
                unsafe bytes.withUnsafeBytes { unsafe storage_bind_blob(raw, index, $0.baseAddress, UInt64($0.count)) }
            }
        try handle.check(code)
    }

    /// Goes to the next row; false at the end.
    func step() throws -> Bool {
        switch unsafe sqlite3_step(raw) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw handle.failure(code)
        }
    }

    /// Resets it for the next use and releases the values. `step` has already reported a failure.
    func reset() {
        unsafe sqlite3_reset(raw)
        unsafe sqlite3_clear_bindings(raw)
    }

    // MARK: Reading

    func value(at column: Int) throws(StorageError) -> StoredValue {
        let count = unsafe sqlite3_data_count(raw)
        guard column >= 0, column < Int(count) else {
            throw StorageError(.mismatch, "a row of \(count) columns has no column \(column)")
        }
        let index = Int32(column)
        switch unsafe sqlite3_column_type(raw, index) {
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(raw, index))
        case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(raw, index))
        case SQLITE_TEXT: return .text(try text(at: index))
        case SQLITE_BLOB:
            let start = unsafe sqlite3_column_blob(raw, index)
            let size = Int(unsafe sqlite3_column_bytes(raw, index))
            return .blob(unsafe Array(UnsafeRawBufferPointer(start: start, count: size)))
        default: return .null
        }
    }

    private func text(at index: Int32) throws(StorageError) -> String {
        let start = unsafe sqlite3_column_text(raw, index)
        let size = Int(unsafe sqlite3_column_bytes(raw, index))
        let bytes = unsafe UnsafeBufferPointer(start: start, count: size)
        guard let text = unsafe String(validating: bytes, as: UTF8.self) else {
            throw StorageError(
                .mismatch, "column \(index) contains text that is not UTF-8; cast it to read it as bytes")
        }
        return text
    }
}

/// The text of a statement, which can only be written as a literal without interpolation.
///
/// So no value gets into it by accident: values are bound to `?`. Literals may be joined with `+`.
public struct SQL: ExpressibleByStringLiteral, Sendable, Hashable {
    let text: String

    public init(stringLiteral literal: StaticString) {
        text = literal.description
    }

    /// Accepts any text. The caller is responsible for its content.
    public init(raw text: String) {
        self.text = text
    }

    /// Joins two texts as they are, without a space between them.
    public static func + (left: SQL, right: SQL) -> SQL {
        SQL(raw: left.text + right.text)
    }
}

/// One row of a result, valid while it is the current one.
public struct Row: ~Copyable {
    private let statement: Statement

    init(_ statement: Statement) {
        self.statement = statement
    }

    /// The value of a column, counted from 0, as the type that the caller requests: `let id: Int = try row[0]`.
    ///
    /// A value of another type is an error, never a silent zero. A missing value is an error unless the type is
    /// optional.
    public subscript<Value: Storable>(column: Int) -> Value {
        get throws(StorageError) { try value(at: column) }
    }

    private func value<Value: Storable>(at column: Int) throws(StorageError) -> Value {
        let stored = try statement.value(at: column)
        guard let value = Value(stored: stored) else {
            throw StorageError(
                .mismatch, "column \(column) contains \(stored.name), which is not a valid \(Value.self)")
        }
        return value
    }
}

// The same for types of which queries read many values, because generic code looks its types up whenever it runs.
extension Row {
    /// Bytes.
    public subscript(column: Int) -> [UInt8] { get throws(StorageError) { try value(at: column) } }
    /// A text.
    public subscript(column: Int) -> String { get throws(StorageError) { try value(at: column) } }
    /// A number.
    public subscript(column: Int) -> Int { get throws(StorageError) { try value(at: column) } }
    /// A truth value.
    public subscript(column: Int) -> Bool { get throws(StorageError) { try value(at: column) } }
}

extension Statement {
    /// Passes the current row to `body`.
    func lend<Result>(to body: (borrowing Row) throws -> Result) throws -> Result {
        // A named variable, because the optimizer of Swift 6.3 aborts on a row that is passed on as it is created.
        let row = Row(self)
        return try body(row)
    }
}

/// Prepared statements that are not in use, by their text.
struct StatementCache {
    private static let limit = 64

    /// The most recently used one is last.
    private var idle: [Statement] = []

    /// Takes a statement out of the cache. If the same text is needed meanwhile, as in a nested loop, it is prepared
    /// again.
    mutating func take(_ sql: String) -> Statement? {
        // Most calls need one of the last few, and equal literals have equal addresses, so the texts are not compared.
        guard let index = idle.lastIndex(where: { $0.sql == sql }) else { return nil }
        return idle.remove(at: index)
    }

    /// Returns a statement to the cache. Over the limit, the least recently used one is dropped.
    mutating func put(_ statement: Statement) {
        idle.append(statement)
        if idle.count > Self.limit { idle.removeFirst() }
    }

    mutating func removeAll() {
        idle = []
    }
}
