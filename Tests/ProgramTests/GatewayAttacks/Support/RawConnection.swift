import Glibc
import LoopKit

/// A connection on which a test sends exact bytes.
final class RawConnection: Sendable {
    struct Failure: Error {
        let message: String
    }

    private let descriptor: LoopDescriptor

    init(port: Int, loop: EventLoop) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(message: "cannot connect: \(errno)") }
        descriptor = try LoopDescriptor(owning: socket, loop: loop)
    }

    /// Sends bytes until done or until the server closes; returns whether all were sent.
    @discardableResult
    func send(_ bytes: [UInt8]) async throws -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let attempt = descriptor.attempt(.writable) { socket in
                unsafe rest.withUnsafeBytes { unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
            switch attempt {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: _ = try await descriptor.writable()
            case .failed, .closed: return false
            }
        }
        return true
    }

    @discardableResult
    func send(_ text: String) async throws -> Bool { try await send(Array(text.utf8)) }

    /// The next received bytes, or nil at the end. A reset counts as the end.
    func receive() async throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let attempt = descriptor.attempt(.readable) { socket in
                unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            }
            switch attempt {
            case .moved(0), .failed, .closed: return nil
            case .moved(let count): return Array(buffer[..<count])
            case .wouldBlock: _ = try await descriptor.readable()
            }
        }
    }

    /// Everything until the server closes.
    func receiveAll() async throws -> String {
        var all: [UInt8] = []
        while let bytes = try await receive() { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// Everything up to a text, or to the end.
    @discardableResult
    func receive(until mark: String) async throws -> String {
        var all: [UInt8] = []
        let wanted = Array(mark.utf8)
        while !all.contains(wanted), let bytes = try await receive() { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// Closes with a reset.
    func reset() {
        _ = descriptor.withDescriptor { socket, _ in
            var linger = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        }
        descriptor.close()
    }

    func close() {
        descriptor.close()
    }
}

extension String {
    /// The status in the first line of a response; 0 if there is none.
    var answerStatus: Int { split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) } ?? 0 }

    /// The number of responses on one connection.
    var answers: Int { ranges(of: "\r\nDate: ").count }
}
