import Capabilities
import Glibc

/// System calls on sockets, for the servers of this module.
enum Sockets {
    /// A listening socket at a port of the system's choice, or at a path.
    static func listen(at address: ScriptedServer.Address) throws -> (socket: Int32, port: Int) {
        switch address {
        case .loopback: return try listen(AF_INET)
        case .loopback6: return try listen(AF_INET6)
        case .unix(let path): return (try listen(path: path), 0)
        }
    }

    private static func listen(_ family: Int32) throws -> (socket: Int32, port: Int) {
        let (socket, port) = try bindLoopback(family)
        guard Glibc.listen(socket, 1024) == 0 else {
            let error = failure("listen")
            close(socket)
            throw error
        }
        return (socket, port)
    }

    /// A socket bound to a port of the system's choice, without listening.
    static func bindLoopback(_ family: Int32) throws -> (socket: Int32, port: Int) {
        let socket = Glibc.socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw failure("make a socket") }
        var storage = sockaddr_storage()
        var length = socklen_t(0)
        unsafe withUnsafeMutablePointer(to: &storage) { storage in
            if family == AF_INET {
                length = socklen_t(MemoryLayout<sockaddr_in>.size)
                unsafe storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    unsafe $0.pointee.sin_family = sa_family_t(AF_INET)
                    unsafe $0.pointee.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                }
            } else {
                length = socklen_t(MemoryLayout<sockaddr_in6>.size)
                unsafe storage.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    unsafe $0.pointee.sin6_family = sa_family_t(AF_INET6)
                    unsafe $0.pointee.sin6_addr = in6addr_loopback
                }
            }
        }
        let result = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe bind(socket, address, length) == 0 else { return Int32(-1) }
                return unsafe getsockname(socket, address, &length)
            }
        }
        guard result == 0 else {
            let error = failure("bind a port")
            close(socket)
            throw error
        }
        let port = unsafe withUnsafePointer(to: &storage) {
            // The port has the same position in both address families.
            unsafe $0.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                unsafe UInt16(bigEndian: $0.pointee.sin_port)
            }
        }
        return (socket, Int(port))
    }

    private static func listen(path: String) throws -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw failure("make a socket") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { space in
            guard bytes.count < space.count else { return false }
            unsafe space.copyBytes(from: bytes)
            return true
        }
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard fits, result == 0, Glibc.listen(socket, 64) == 0 else {
            let error = failure("listen at \(path)")
            close(socket)
            throw error
        }
        return socket
    }

    /// Waits for one of the events or the end of the connection; false when the time is over.
    static func wait(_ socket: Int32, for events: Int16, atMost time: Duration) throws -> Bool {
        let deadline = ContinuousClock.now + time
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            var descriptor = pollfd(fd: socket, events: events, revents: 0)
            let milliseconds = Int32(clamping: Int64((left / .milliseconds(1)).rounded(.up)))
            let count = unsafe poll(&descriptor, 1, max(0, milliseconds))
            if count > 0 { return true }
            if count == 0, ContinuousClock.now >= deadline { return false }
            guard count >= 0 || errno == EINTR else { throw failure("wait") }
        }
    }

    /// Makes the close of a socket a reset, which discards undelivered data.
    static func resetOnClose(_ socket: Int32) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    /// Makes small writes leave at once.
    static func sendAtOnce(_ socket: Int32) {
        var on: Int32 = 1
        unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    static func failure(_ what: String) -> ScriptError {
        .failed("cannot \(what): \(SystemError(errno))")
    }
}
