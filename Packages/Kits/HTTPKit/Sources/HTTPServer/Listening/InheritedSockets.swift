import Glibc

/// The sockets that whoever started this process has opened for it, as systemd does for a service with a socket unit.
///
/// The service manager listens from the start of the machine on, and starts the server when the first client comes; a
/// restart of the server loses no client.
public enum InheritedSockets {
    /// "The file descriptors are passed … beginning at 3" (sd_listen_fds(3)).
    static let first: Int32 = 3

    /// Where a server may listen that was started so; empty when it was started in another way.
    ///
    /// Each address is good for one run of a server, which closes the socket in the end. Nothing that this process
    /// starts inherits the sockets again.
    ///
    /// - Parameter environment: the variables that this process was started with.
    public static func addresses(environment: [String: String]) throws(ServerError) -> [ListenAddress] {
        // The variables outlive the process that they are for: its children have them too, but not the sockets.
        guard let target = environment["LISTEN_PID"], Int32(target) == getpid(),
            let text = environment["LISTEN_FDS"], let count = Int32(text), count > 0
        else { return [] }
        guard count <= 64 else {
            throw ServerError(.configuration, "LISTEN_FDS promises \(count) sockets; 64 is the limit")
        }
        return try (first..<first + count).map { descriptor throws(ServerError) in
            try ListenAddress.inherited(descriptor)
        }
    }
}

extension ListenAddress {
    /// A socket that somebody else opened and that already listens; the server that runs with it closes it.
    ///
    /// Throws when the descriptor is none.
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
                "the descriptor \(descriptor) that was passed on is no socket that listens for streams; "
                    + "in a socket unit use ListenStream= and Accept=no")
        }
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0
        else { throw .listen("the descriptor \(descriptor)", errno) }
        return ListenAddress(place: .inherited(descriptor, address))
    }
}
