public import Capabilities
public import JSON

/// Why a file of SSH, an address or a key cannot be used, or why a connection failed.
public struct SSHError: Failure {
    /// The stable reason, to compare with `==`.
    public let kind: Kind
    public let message: String
    public let cause: (any Error)?
    public let details: JSONObject

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .configuration, .address, .noMatch, .command: .usage
        case .unknownHost, .hostKeyChanged, .hostKeyRevoked, .hostKeyRefused, .authentication: .denied
        case .unreachable, .timedOut, .handshake, .disconnected: .unreachable
        default: .failed
        }
    }

    /// A failure of this kind, in a sentence.
    public init(_ kind: Kind, _ message: String, cause: (any Error)? = nil, details: JSONObject = [:]) {
        self.kind = kind
        self.message = message
        self.cause = cause
        self.details = details
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
    /// A pattern that fits no host of the settings.
    public static var noMatch: Self { "ssh.no-match" }
    /// The bytes of a key that cannot be read.
    public static var key: Self { "ssh.key" }
    /// A file of known hosts that cannot be read or written.
    public static var knownHosts: Self { "ssh.known-hosts" }
    /// A file with more than is read.
    public static var tooLarge: Self { "ssh.too-large" }
    /// This user, or the one that a path names, is not in the user database.
    public static var noUser: Self { "ssh.no-user" }
}

/// The reasons why a connection fails.
extension FailureKind<SSHError> {
    /// libssh2 cannot be opened.
    public static var library: Self { "ssh.library" }
    /// The system's ssh cannot be used for a reason of this machine.
    public static var systemFailed: Self { "ssh.system-failed" }
    /// Only the system's ssh can make the connection.
    public static var needsSystem: Self { "ssh.needs-system-ssh" }
    /// The settings forbid the connection.
    public static var forbidden: Self { "ssh.forbidden" }
    /// The host has no known key, and nobody is there to accept one.
    public static var unknownHost: Self { "ssh.unknown-host" }
    /// The host has another key than the known one, or only keys of other types.
    public static var hostKeyChanged: Self { "ssh.host-key-changed" }
    /// A line revokes the key of the host.
    public static var hostKeyRevoked: Self { "ssh.host-key-revoked" }
    /// The key was not accepted.
    public static var hostKeyRefused: Self { "ssh.host-key-refused" }
    /// Its name has no address, or no address answers.
    public static var unreachable: Self { "ssh.unreachable" }
    /// The host takes too long.
    public static var timedOut: Self { "ssh.timed-out" }
    /// What answers does not speak SSH as we do.
    public static var handshake: Self { "ssh.handshake" }
    /// No method of authentication succeeds.
    public static var authentication: Self { "ssh.authentication" }
    /// The connection ended. A command that was sent may have run.
    public static var disconnected: Self { "ssh.disconnected" }
    /// The connection was closed here.
    public static var closed: Self { "ssh.closed" }
    /// The host opens no further channel.
    public static var channelRefused: Self { "ssh.channel-refused" }
    /// A command that cannot be sent, or that the host does not start.
    public static var command: Self { "ssh.command" }
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
