/// Why a text is not the JSON that was asked for, and where.
public struct JSONError: Error, Sendable, Equatable {
    /// The kind of problem.
    public enum Code: String, Sendable {
        /// The text breaks the grammar.
        case syntax
        /// Arrays and objects nest too deep.
        case depth
        /// The text is too long.
        case size
        /// An object names a member twice.
        case duplicateKey
        /// The text is not UTF-8, or an escape is no character.
        case encoding
        /// A number is malformed or out of range.
        case number
        /// A value is of another kind than the reader asked for.
        case type
    }

    /// The kind of problem.
    public let code: Code
    /// What is wrong, for a person.
    public let message: String
    /// The keys and indices that lead to the value, such as `["servers", "0", "url"]`.
    public internal(set) var path: [String]
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1 in Unicode scalars.
    public let column: Int
    /// The offset in bytes, counted from 0.
    public let offset: Int

    /// An error at a place.
    public init(_ code: Code, _ message: String, path: [String] = [], line: Int = 1, column: Int = 1, offset: Int = 0) {
        self.code = code
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.offset = offset
    }

    /// The error as `file:line:column: message`, which editors understand.
    public func located(in file: String) -> String {
        "\(file):\(line):\(column): \(message)"
    }

    /// The same error, seen from the array or object around it.
    func inside(_ key: String) -> JSONError {
        var error = self
        error.path.insert(key, at: 0)
        return error
    }
}

extension JSONError: CustomStringConvertible {
    /// The place and the message.
    public var description: String { "line \(line), column \(column): \(message)" }
}
