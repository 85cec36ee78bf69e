public import Cryptography

/// Where a server listens.
public struct ListenAddress: Sendable {
    enum Place: Sendable {
        case ip(String, port: UInt16)
        case path(String)
        /// A socket that listens already.
        case inherited(Int32, SocketAddress)
    }

    let place: Place
    var tls: TLSServerContext?

    /// Whether only programs of this machine can reach it.
    var isLocal: Bool {
        switch place {
        case .ip(let host, let port): SocketAddress(ip: host, port: port)?.isLoopback ?? true
        case .path: true
        case .inherited(_, let address): address.isLoopback
        }
    }

    /// Whether it is a socket of this machine without a name in a network.
    public var isUnixSocket: Bool {
        switch place {
        case .ip: false
        case .path: true
        case .inherited(_, let address): address.host == nil
        }
    }

    /// Programs of this machine only. Port 0 lets the system choose; `run` tells which it is.
    public static func loopback(port: UInt16 = 0) -> ListenAddress {
        ListenAddress(place: .ip("127.0.0.1", port: port))
    }

    /// The same over IPv6.
    public static func loopback6(port: UInt16 = 0) -> ListenAddress {
        ListenAddress(place: .ip("::1", port: port))
    }

    /// An address of this machine in digits. One that others can reach needs an authenticator.
    public static func ip(_ address: String, port: UInt16) -> ListenAddress {
        ListenAddress(place: .ip(address, port: port))
    }

    /// The same address with TLS.
    public func secured(by context: TLSServerContext) -> ListenAddress {
        var copy = self
        copy.tls = context
        return copy
    }

    /// A socket in the file system that only this user can use. One that a dead server left is replaced.
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

/// Where a server listens indeed.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address in digits, or the path of a socket.
    public let host: String
    /// Nil for a socket in the file system.
    public let port: Int?
    public let isSecure: Bool

    /// As a URL: `http://127.0.0.1:8080`, `unix:/run/user/1000/martlet.sock`.
    public var description: String {
        guard let port else { return "unix:\(host)" }
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(name):\(port)"
    }
}
