public import Capabilities

/// Why a text cannot be read as TOML, with the position.
public struct TOMLError: Failure, Hashable {
    /// The kind of problem.
    public enum Kind: String, Sendable {
        /// The text breaks the grammar, or is not UTF-8.
        case syntax
        /// A key or a table is defined twice, or extended where it must not be.
        case duplicateKey = "duplicate-key"
        /// The text is too large or nested too deep.
        case limit
        /// A number that cannot be represented.
        case number
    }

    /// The stable reason.
    public let kind: Kind
    public let message: String
    /// Counted from 1.
    public let line: Int
    /// Counted from 1, in Unicode scalars.
    public let column: Int

    /// - Parameter offset: the byte that is wrong.
    init(_ kind: Kind, _ message: String, at offset: Int, in bytes: [UInt8]) {
        self.kind = kind
        self.message = message
        var (line, column) = (1, 1)
        for byte in bytes.prefix(offset) {
            if byte == UInt8(ascii: "\n") {
                (line, column) = (line + 1, 1)
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        (self.line, self.column) = (line, column)
    }

    public var code: String { "toml.\(kind.rawValue)" }
    public var exit: ExitCode { .usage }

    /// The error as `file:line:column: message`, which editors understand.
    public func located(in file: String) -> String {
        "\(file):\(line):\(column): \(message)"
    }
}
