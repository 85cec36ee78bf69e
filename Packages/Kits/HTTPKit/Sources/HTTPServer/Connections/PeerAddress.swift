import Glibc

/// Who is at the other end of a connection.
public enum PeerAddress: Sendable, Hashable, CustomStringConvertible {
    case ip(String)
    /// A program on this machine, through a socket in the file system.
    case unix

    public var description: String {
        switch self {
        case .ip(let text): text
        case .unix: "unix"
        }
    }

    init(ofPeerAt descriptor: Int32) {
        self = SocketAddress.peer(of: descriptor)?.host.map { .ip($0) } ?? .unix
    }
}
