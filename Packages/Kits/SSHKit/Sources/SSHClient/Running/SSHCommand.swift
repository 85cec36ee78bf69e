import Capabilities
public import SSHCore

/// A command for a host, as the text that its user's login shell gets.
public struct SSHCommand: Sendable, Hashable {
    /// What is sent.
    public let line: String

    /// What fits into one packet, with room for the rest of it.
    static let longest = 32_000

    /// A text for the shell there.
    ///
    /// Throws `.command` for an empty or too long text, or one with a zero byte.
    public init(line: String) throws(SSHError) {
        guard !line.isEmpty else { throw SSHError(.command, "the command is empty; give a program and its arguments") }
        guard line.utf8.count <= Self.longest else {
            throw SSHError(
                .command,
                "the command has \(line.utf8.count) bytes, and at most \(Self.longest) can be sent; pass the rest as input"
            )
        }
        guard !line.utf8.contains(0) else { throw SSHError(.command, "the command contains a zero byte") }
        self.line = line
    }

    /// A program and its arguments, in quotes for a POSIX shell, so that it gets them as they are.
    public init(words: [String]) throws(SSHError) {
        // The first word is always in quotes: it could be a reserved word, an alias, or look like an assignment.
        let quoted = words.enumerated().map { Self.quoted($0.element, isAlways: $0.offset == 0) }
        try self.init(line: quoted.joined(separator: " "))
    }

    /// Stricter than `ShellWords`: some login shells expand words with `=` or `%`.
    private static func quoted(_ word: String, isAlways: Bool) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_./:@+,".utf8.contains(byte)
                }
            }
        if isPlain, !isAlways { return word }
        return "'\(word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#))'"
    }
}

/// What a command gets on its standard input.
public enum SSHInput: Sendable {
    /// Nothing: the input ends at once.
    case none
    /// These bytes.
    case bytes([UInt8])
    /// Pieces until nil. The next one is taken when the last was sent.
    case pieces(@Sendable () async throws -> [UInt8]?)
}

/// A piece of what a command prints.
public enum SSHPiece: Sendable, Hashable {
    /// Of its standard output.
    case output([UInt8])
    /// Of its standard error.
    case errors([UInt8])
}

/// How a command ended.
public enum SSHExit: Sendable, Hashable {
    /// By itself, with this code. A host that tells no code counts as 0.
    case exited(Int)
    /// By a signal, such as `TERM`.
    case signalled(String)

    /// Whether it ended with 0.
    public var isSuccess: Bool { self == .exited(0) }
}
