import Capabilities

/// What makes the connection to a host, by its settings.
public enum SSHEngine: Sendable, Hashable {
    /// We can do all that the settings ask for.
    case own
    /// Only the system's ssh can, for all of these reasons.
    case system([SSHReason])
    /// The settings forbid the connection.
    case refused(SSHReason)
}

/// What in the settings makes us leave a connection to the system's ssh, or make none.
public struct SSHReason: Sendable, Hashable, CustomStringConvertible {
    /// The keyword, as people write it.
    public let keyword: String
    /// The line that has it. Nil for a default.
    public let place: SSHFilePlace?
    /// Why, as the rest of a sentence that begins with the keyword: "leads through another host".
    public let words: String

    init(_ keyword: String, _ place: SSHFilePlace?, _ words: String) {
        (self.keyword, self.place, self.words) = (PlainText.escape(keyword, limit: 60), place, words)
    }

    /// `ProxyJump (/home/me/.ssh/config line 3) leads through another host`.
    public var description: String {
        keyword + (place.map { " (\($0.file) line \($0.line))" } ?? "") + " " + words
    }
}
