/// Why a script ended before its last line.
public enum ScriptError: Error, Sendable, Hashable {
    /// The peer closed or broke the connection.
    case peerLeft
    /// The test is over.
    case stopped
    /// Something else, in words.
    case failed(String)
}
