import Capabilities
import FileKit
import Glibc
public import LoopKit
import SSHCore

/// Passes connections to an address of this machine on to one that a host connects to. It listens on the loopback interface only, or at
/// a socket that only this user can open.
public struct PortForward: Sendable {
    /// Where it listens.
    public enum Local: Sendable, Hashable {
        /// A port of 127.0.0.1; 0 for one that the system chooses.
        case port(Int)
        /// A path that does not exist yet.
        case socket(String)
    }

    /// What happened to one of the connections.
    public enum Event: Sendable {
        case opened(number: Int)
        /// With why, if it did not end by itself.
        case ended(number: Int, (any Error)?)
    }

    private let listener: LoopDescriptor
    private let path: String?
    private let loop: EventLoop
    /// What it listens on, as people write it: `127.0.0.1:5432` or a path.
    public let address: String

    /// Listens. Nothing is sent before somebody connects.
    ///
    /// Throws `.address` if the port is taken or the path exists.
    public init(at local: Local, loop: EventLoop) throws {
        self.loop = loop
        let socket: Int32
        switch local {
        case .port(let port):
            path = nil
            (socket, address) = try Self.listen(port)
        case .socket(let place):
            path = place
            address = place
            socket = try Self.listen(place)
        }
        listener = try LoopDescriptor(owning: socket, loop: loop)
    }

    /// Serves until the task is cancelled, or the connection to the host ends.
    public func run(
        to destination: SSHDestination, by link: any SSHLink, event: @escaping @Sendable (Event) async throws -> Void
    ) async throws {
        defer {
            listener.close()
            if let path { unsafe unlink(path) }
        }
        try await withThrowingDiscardingTaskGroup { group in
            var number = 0
            while let client = try await accept() {
                number += 1
                group.addTask { [number] in
                    try await event(.opened(number: number))
                    var failure: (any Error)?
                    do { try await Self.pass(client, destination, link) } catch { failure = error }
                    client.close()
                    try await event(.ended(number: number, failure))
                    // Without the host there is nothing to pass on to.
                    if let lost = failure as? SSHError, [.disconnected, .closed].contains(lost.kind) { throw lost }
                }
            }
        }
    }

    // MARK: Listening

    private static func listen(_ port: Int) throws -> (Int32, String) {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard socket >= 0 else { throw refusal("127.0.0.1:\(port)") }
        var one: Int32 = 1
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var count = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, count) == 0 && Glibc.listen(socket, 64) == 0
                    && getsockname(socket, $0, &count) == 0
            }
        }
        guard result else {
            let failure = refusal("127.0.0.1:\(port)")
            Glibc.close(socket)
            throw failure
        }
        return (socket, "127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
    }

    private static func listen(_ path: String) throws -> Int32 {
        guard !Files.exists(path) else {
            throw SSHError(.address, "cannot listen at \(PlainText.escape(path)): it exists already")
        }
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard socket >= 0 else { throw refusal(path) }
        // The mode is that of the socket from its first moment on.
        fchmod(socket, 0o600)
        guard unsafe UnixAddress.with(path, { unsafe bind(socket, $0, $1) }) == 0, Glibc.listen(socket, 64) == 0 else {
            let failure = refusal(path)
            Glibc.close(socket)
            throw failure
        }
        return socket
    }

    private static func refusal(_ place: String) -> SSHError {
        SSHError(.address, "cannot listen at \(PlainText.escape(place)): \(SystemError(errno))")
    }

    /// The next connection; nil when it is closed.
    private func accept() async throws -> LoopDescriptor? {
        while true {
            switch listener.attempt(.readable, { Int(Glibc.accept($0, nil, nil)) }) {
            case .moved(let number):
                let socket = Int32(number)
                _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
                return try LoopDescriptor(owning: socket, loop: loop)
            case .wouldBlock: if try await listener.readable() == .closed { return nil }
            // Of a client that is gone already, for instance.
            case .failed(ECONNABORTED), .failed(EINTR): continue
            case .failed(let number):
                throw SSHError(.address, "no more connections can be taken: \(SystemError(number))")
            case .closed: return nil
            }
        }
    }

    // MARK: Passing on

    private static func pass(
        _ client: LoopDescriptor, _ destination: SSHDestination, _ link: any SSHLink
    ) async throws {
        try await link.stream(to: destination, input: .pieces { try await receive(from: client) }) { piece in
            guard let piece else {
                client.withDescriptor { descriptor, _ in _ = shutdown(descriptor, Int32(SHUT_WR)) }
                return
            }
            try await send(piece, to: client)
        }
    }

    private static func receive(from client: LoopDescriptor) async throws -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 1 << 15)
        while true {
            let attempt = client.attempt(.readable) { descriptor in
                unsafe piece.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            }
            switch attempt {
            case .moved(0), .closed, .failed: return nil
            case .moved(let count): return Array(piece.prefix(count))
            case .wouldBlock: _ = try await client.readable()
            }
        }
    }

    private static func send(_ piece: [UInt8], to client: LoopDescriptor) async throws {
        var rest = piece[...]
        while !rest.isEmpty {
            let attempt = client.attempt(.writable) { descriptor in
                unsafe rest.withUnsafeBytes {
                    unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            }
            switch attempt {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: _ = try await client.writable()
            // The client is gone; what it has asked for goes nowhere.
            case .failed, .closed: throw CancellationError()
            }
        }
    }
}

/// The address of a Unix socket.
enum UnixAddress {
    /// Passes the address for C. A path that is too long gives -1 and ENAMETOOLONG.
    static func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
            errno = ENAMETOOLONG
            return -1
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
