public import Cryptography
import Glibc

/// An address for a server to listen at.
public struct ListenAddress: Sendable {
    enum Place: Sendable {
        case ip(String, port: UInt16)
        case path(String)
        /// A socket that is already listening.
        case inherited(Int32, SocketAddress)
    }

    let place: Place
    var tls: TLSServerContext?

    /// Whether only programs on this machine can reach it.
    var isLocal: Bool {
        switch place {
        case .ip(let host, let port): SocketAddress(ip: host, port: port)?.isLoopback ?? true
        case .path: true
        case .inherited(_, let address): address.isLoopback
        }
    }

    /// Whether it is a Unix socket, which has no name in a network.
    public var isUnixSocket: Bool {
        switch place {
        case .ip: false
        case .path: true
        case .inherited(_, let address): address.host == nil
        }
    }

    /// Reachable only from this machine. With port 0 the system chooses a port, which `run` reports.
    public static func loopback(port: UInt16 = 0) -> ListenAddress {
        ListenAddress(place: .ip("127.0.0.1", port: port))
    }

    /// The same over IPv6.
    public static func loopback6(port: UInt16 = 0) -> ListenAddress {
        ListenAddress(place: .ip("::1", port: port))
    }

    /// An IP address of this machine. An address that others can reach needs an authenticator.
    public static func ip(_ address: String, port: UInt16) -> ListenAddress {
        ListenAddress(place: .ip(address, port: port))
    }

    /// The same address with TLS.
    public func secured(by context: TLSServerContext) -> ListenAddress {
        var copy = self
        copy.tls = context
        return copy
    }

    /// A Unix socket that only this user can use. A socket left by a dead server is replaced.
    public static func unix(_ path: String) -> ListenAddress {
        ListenAddress(place: .path(path))
    }
}

extension ListenAddress: CustomStringConvertible {
    public var description: String {
        switch place {
        case .ip(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .path(let path): path
        case .inherited(let descriptor, let address): address.path ?? address.host ?? "the descriptor \(descriptor)"
        }
    }
}

/// The actual address at which a server listens.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
    /// The IP address, or the path of a Unix socket.
    public let host: String
    /// Nil for a Unix socket.
    public let port: Int?
    /// Whether it uses TLS.
    public let isSecure: Bool

    /// As a URL: `http://127.0.0.1:8080`, `unix:/run/user/1000/martlet.sock`.
    public var description: String {
        guard let port else { return "unix:\(host)" }
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(name):\(port)"
    }
}

/// The sockets that the parent process opened for this one, as systemd does for a service with a socket unit.
///
/// The service manager listens from system start and starts the server when the first client connects; a restart of the
/// server loses no client.
public enum InheritedSockets {
    /// "The file descriptors are passed … beginning at 3" (sd_listen_fds(3)).
    static let first: Int32 = 3

    /// The inherited listen addresses; empty if the process was started without any.
    ///
    /// Each address can be used for one run of a server, which closes the socket at its end. Child processes do not
    /// inherit the sockets.
    ///
    /// - Parameter environment: the environment variables at process start.
    public static func addresses(environment: [String: String]) throws(ServerError) -> [ListenAddress] {
        // Child processes inherit the variables but not the sockets.
        guard let target = environment["LISTEN_PID"], Int32(target) == getpid(),
            let text = environment["LISTEN_FDS"], let count = Int32(text), count > 0
        else { return [] }
        guard count <= 64 else {
            throw ServerError(.configuration, "LISTEN_FDS announces \(count) sockets; the limit is 64")
        }
        return try (first..<first + count).map { descriptor throws(ServerError) in
            try ListenAddress.inherited(descriptor)
        }
    }
}

extension ListenAddress {
    /// A listening socket opened by another process; the server that uses it closes it.
    ///
    /// Throws when the descriptor is not a listening socket.
    public static func inherited(_ descriptor: Int32) throws(ServerError) -> ListenAddress {
        func value(_ option: Int32) -> Int32? {
            var value: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            guard unsafe getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 else { return nil }
            return value
        }
        guard value(SO_TYPE) == Int32(SOCK_STREAM.rawValue), value(SO_ACCEPTCONN) == 1,
            let address = SocketAddress.own(of: descriptor), address.host != nil || address.family == AF_UNIX
        else {
            throw ServerError(
                .configuration,
                "the inherited descriptor \(descriptor) is not a listening stream socket; in a socket unit use "
                    + "ListenStream= and Accept=no")
        }
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0
        else { throw .listen("the descriptor \(descriptor)", errno) }
        return ListenAddress(place: .inherited(descriptor, address))
    }
}
