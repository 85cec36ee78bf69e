import Glibc

/// An address of a socket in the system's form.
@safe
struct SocketAddress: Sendable {
    private var storage = sockaddr_storage()
    private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    private init() {}

    var family: Int32 { Int32(storage.ss_family) }

    /// An IPv4 or IPv6 address; nil if the text is not a valid one.
    init?(ip text: String, port: UInt16) {
        if let address = Self.parsed(text, AF_INET, in_addr()) {
            var value = sockaddr_in()
            value.sin_family = sa_family_t(AF_INET)
            value.sin_port = port.bigEndian
            value.sin_addr = address
            store(value)
        } else if let address = Self.parsed(text, AF_INET6, in6_addr()) {
            var value = sockaddr_in6()
            value.sin6_family = sa_family_t(AF_INET6)
            value.sin6_port = port.bigEndian
            value.sin6_addr = address
            store(value)
        } else {
            return nil
        }
    }

    /// A Unix socket; nil when the path is longer than the system allows.
    init?(path: String) {
        var value = sockaddr_un()
        value.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: value.sun_path)
        guard !bytes.isEmpty, bytes.count < room, !bytes.contains(0) else { return nil }
        unsafe withUnsafeMutableBytes(of: &value.sun_path) { unsafe $0.copyBytes(from: bytes) }
        store(value)
    }

    private static func parsed<Address>(_ text: String, _ family: Int32, _ empty: Address) -> Address? {
        var address = empty
        let result = unsafe withUnsafeMutableBytes(of: &address) { unsafe inet_pton(family, text, $0.baseAddress) }
        return result == 1 ? address : nil
    }

    private mutating func store<Value>(_ value: Value) {
        length = socklen_t(MemoryLayout<Value>.size)
        unsafe withUnsafeMutableBytes(of: &storage) { storage in
            unsafe withUnsafeBytes(of: value) { unsafe storage.copyMemory(from: $0) }
        }
    }

    /// The local address of a socket.
    static func own(of descriptor: Int32) -> SocketAddress? {
        unsafe read { unsafe getsockname(descriptor, $0, $1) }
    }

    /// The peer's address.
    static func peer(of descriptor: Int32) -> SocketAddress? {
        unsafe read { unsafe getpeername(descriptor, $0, $1) }
    }

    private static func read(
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var address = SocketAddress()
        var length = address.length
        let result = unsafe withUnsafeMutablePointer(to: &address.storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe call($0, &length) }
        }
        guard result == 0 else { return nil }
        address.length = length
        return address
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    /// The IP address; nil for a Unix socket.
    var host: String? {
        switch family {
        case AF_INET: text(of: as4.sin_addr, INET_ADDRSTRLEN)
        case AF_INET6: text(of: as6.sin6_addr, INET6_ADDRSTRLEN)
        default: nil
        }
    }

    var port: Int? {
        switch family {
        case AF_INET: Int(UInt16(bigEndian: as4.sin_port))
        case AF_INET6: Int(UInt16(bigEndian: as6.sin6_port))
        default: nil
        }
    }

    /// The path of a Unix socket; nil for others and for unnamed ones.
    var path: String? {
        guard family == AF_UNIX else { return nil }
        let value = unsafe withUnsafeBytes(of: storage) { unsafe $0.loadUnaligned(as: sockaddr_un.self) }
        let bytes = unsafe withUnsafeBytes(of: value.sun_path) { unsafe Array($0.prefix { $0 != 0 }) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Whether only this machine can reach it.
    var isLoopback: Bool {
        switch family {
        case AF_INET: UInt32(bigEndian: as4.sin_addr.s_addr) >> 24 == 127
        case AF_INET6: host == "::1"
        default: true
        }
    }

    private var as4: sockaddr_in {
        unsafe withUnsafeBytes(of: storage) { unsafe $0.loadUnaligned(as: sockaddr_in.self) }
    }

    private var as6: sockaddr_in6 {
        unsafe withUnsafeBytes(of: storage) { unsafe $0.loadUnaligned(as: sockaddr_in6.self) }
    }

    private func text<Address>(of address: Address, _ room: Int32) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(room))
        let result = unsafe withUnsafeBytes(of: address) { address in
            unsafe inet_ntop(family, address.baseAddress, &buffer, socklen_t(room))
        }
        guard unsafe result != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The peer of a connection.
public enum PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// The IP address as text.
    case ip(String)
    /// A program on this machine, connected through a Unix socket.
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
