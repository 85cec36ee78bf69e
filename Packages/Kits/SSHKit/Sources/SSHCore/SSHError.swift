public import Capabilities

/// Why a file of SSH, an address or a key cannot be used.
public struct SSHError: Failure {
    /// The stable reason, to compare with `==`.
    public let kind: Kind
    public let message: String
    public let cause: (any Error)?

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .configuration, .address: .usage
        default: .failed
        }
    }

    init(_ kind: Kind, _ message: String, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<SSHError>
}

/// The reasons of an `SSHError`.
extension FailureKind<SSHError> {
    /// A file of settings that ssh refuses too: a damaged line, wrong permissions, too many includes.
    public static var configuration: Self { "ssh.configuration" }
    /// A text that names no host.
    public static var address: Self { "ssh.address" }
    /// The bytes of a key that cannot be read.
    public static var key: Self { "ssh.key" }
    /// A file of known hosts that cannot be read or written.
    public static var knownHosts: Self { "ssh.known-hosts" }
    /// A file with more than is read.
    public static var tooLarge: Self { "ssh.too-large" }
    /// This user, or the one that a path names, is not in the user database.
    public static var noUser: Self { "ssh.no-user" }
}

/// A line of a file.
public struct SSHFilePlace: Sendable, Hashable, CustomStringConvertible {
    /// The path of the file.
    public let file: String
    /// Counted from 1.
    public let line: Int

    /// A line, counted from 1.
    public init(file: String, line: Int) {
        (self.file, self.line) = (file, line)
    }

    /// `/home/me/.ssh/known_hosts:3`, as ssh writes it and `ssh-keygen` understands it.
    public var description: String { "\(file):\(line)" }
}
