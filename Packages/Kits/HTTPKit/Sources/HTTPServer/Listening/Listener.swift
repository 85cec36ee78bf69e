import Cryptography
import FileKit
import Glibc
import LoopKit

/// A socket that accepts clients.
struct Listener: Sendable {
    let descriptor: LoopDescriptor
    let facts: ListenerFacts
    /// The file of a Unix socket, with the data that identifies it if another file replaces it.
    private let file: SocketFile?

    init(_ address: ListenAddress, allowed: Set<String>, loop: EventLoop) throws {
        let tls = address.tls
        switch address.place {
        case .ip(let host, let port):
            guard let socketAddress = SocketAddress(ip: host, port: port) else {
                throw ServerError(.configuration, "cannot listen at \(host): it is not a numeric address")
            }
            let bound = try Self.listen(socketAddress, "\(host):\(port)")
            let own = SocketAddress.own(of: bound)
            descriptor = try LoopDescriptor(owning: bound, loop: loop)
            file = nil
            facts = ListenerFacts(
                address: BoundAddress(host: own?.host ?? host, port: own?.port ?? Int(port), isSecure: tls != nil),
                hosts: HostCheck(address: host, allowed: allowed), tls: tls)
        case .path(let path):
            guard let socketAddress = SocketAddress(path: path) else {
                throw ServerError(.configuration, "cannot listen at \(path): the path is too long for a socket")
            }
            let (bound, file) = try SocketFile.make(path) { () throws(ServerError) in
                try Self.listen(socketAddress, path)
            }
            descriptor = try LoopDescriptor(owning: bound, loop: loop)
            self.file = file
            // Browsers cannot reach it, so any host name is accepted.
            facts = ListenerFacts(
                address: BoundAddress(host: path, port: nil, isSecure: tls != nil), hosts: nil, tls: tls)
        case .inherited(let socket, let own):
            Self.tune(socket, own)
            descriptor = try LoopDescriptor(owning: socket, loop: loop)
            // An inherited socket's file belongs to the process that made it.
            file = nil
            let host = own.host
            facts = ListenerFacts(
                address: BoundAddress(host: host ?? own.path ?? "", port: own.port, isSecure: tls != nil),
                hosts: host.map { HostCheck(address: $0, allowed: allowed) }, tls: tls)
        }
    }

    static func listen(_ address: SocketAddress, _ name: String) throws(ServerError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else { throw .listen(name, errno) }
        func set(_ level: Int32, _ option: Int32, _ value: Int32) {
            Self.set(descriptor, level, option, value)
        }
        set(SOL_SOCKET, SO_REUSEADDR, 1)
        tune(descriptor, address)
        if address.family == AF_INET6 { set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        // bind creates the file with this mode; the umask can only remove bits from it.
        if address.family == AF_UNIX, fchmod(descriptor, 0o600) != 0 {
            let number = errno
            _ = Glibc.close(descriptor)
            throw .listen(name, number)
        }
        let bound = unsafe address.withPointer { unsafe bind(descriptor, $0, $1) }
        guard bound == 0, Glibc.listen(descriptor, 4096) == 0 else {
            let number = errno
            _ = Glibc.close(descriptor)
            throw .listen(name, number)
        }
        return descriptor
    }

    /// Connections inherit both options: small responses are sent at once, and the system buffers no more of a stream
    /// than a slow client should make it hold.
    private static func tune(_ descriptor: Int32, _ address: SocketAddress) {
        guard address.family != AF_UNIX else { return }
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, 64 << 10)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Stops accepting clients.
    func close() {
        descriptor.close()
        file?.remove()
    }
}

/// Properties of the listener that its connections need.
struct ListenerFacts: Sendable {
    let address: BoundAddress
    /// Nil where any host name is accepted.
    let hosts: HostCheck?
    let tls: TLSServerContext?
    var isSecure: Bool { address.isSecure }
}

/// The file of a Unix socket.
struct SocketFile: Sendable {
    let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Creates the socket under an unused name, readable and writable only by this user, and moves it into place when
    /// it is ready. A socket left by a dead server is replaced; a live one, or a file of another kind, is not.
    static func make(
        _ path: String, _ listen: () throws(ServerError) -> Int32
    ) throws(ServerError) -> (Int32, SocketFile) {
        // If two servers started at once, the second would remove the socket that the first has just created.
        let lock = try lock("\(path).lock")
        try removeStale(path)
        let descriptor = try listen()
        lock.release()
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else {
            let number = errno
            close(descriptor)
            throw .listen(path, number)
        }
        return (descriptor, SocketFile(path: path, device: info.st_dev, inode: info.st_ino))
    }

    private static func lock(_ path: String) throws(ServerError) -> FileLock {
        do throws(FileError) {
            if let lock = try FileLock.tryAcquire(path) { return lock }
        } catch {
            throw ServerError(.listen, "cannot listen at \(path.dropLast(5)): \(error.message)", cause: error)
        }
        throw .listen(String(path.dropLast(5)), EADDRINUSE)
    }

    private static func removeStale(_ path: String) throws(ServerError) {
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else { return }
        guard info.st_mode & S_IFMT == S_IFSOCK else {
            throw ServerError(.listen, "cannot listen at \(path): another kind of file is there; choose another path")
        }
        guard let address = SocketAddress(path: path) else { return }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let probe = socket(AF_UNIX, kind, 0)
        guard probe >= 0 else { throw .listen(path, errno) }
        defer { close(probe) }
        let result = unsafe address.withPointer { unsafe connect(probe, $0, $1) }
        // Only this error means that no server is listening; a full queue, for example, means that one is.
        guard result != 0, errno == ECONNREFUSED else { throw .listen(path, EADDRINUSE) }
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .listen(path, errno) }
    }

    /// Removes the file, unless another server has replaced it.
    func remove() {
        var info = stat()
        guard unsafe lstat(path, &info) == 0, info.st_dev == device, info.st_ino == inode else { return }
        unsafe unlink(path)
    }
}
