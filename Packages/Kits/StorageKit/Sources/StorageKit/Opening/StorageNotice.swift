import Capabilities
import Glibc

/// Something that a person should know although the work went on.
public struct StorageNotice: Sendable, Hashable {
    /// What happened and where the old data is now, in a sentence without a final stop.
    public let message: String
    /// Where the damaged file was put; nil where none was.
    public var setAside: String?

    /// Tells it by `say`, or on standard error where nobody listens: data that was put away is never a secret.
    public func tell(_ say: ((String) -> Void)?) {
        if let say { return say(message) }
        let line = Array("\(message)\n".utf8)
        // Whoever closed standard error wants to hear nothing.
        _ = unsafe write(STDERR_FILENO, line, line.count)
    }
}
