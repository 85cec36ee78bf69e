import Glibc
import LoopKit

/// A client that sends exactly the given bytes and returns exactly the received ones.
final class RawClient: Sendable {
    let descriptor: LoopDescriptor

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
        guard result == 0 else { throw Failed("cannot connect: \(errno)") }
        descriptor = try LoopDescriptor(owning: socket, loop: loop)
    }

    struct Failed: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    func send(_ text: String) async throws {
        try await send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let attempt = descriptor.attempt(.writable) { socket in
                unsafe rest.withUnsafeBytes { unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
            switch attempt {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: _ = try await descriptor.writable()
            case .failed(let number): throw Failed("cannot send: \(number)")
            case .closed: throw Failed("closed")
            }
        }
    }

    /// The next received bytes, or nil at the end. A reset counts as the end.
    func receive() async throws -> [UInt8]? {
        while true {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let attempt = descriptor.attempt(.readable) { socket in
                unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            }
            switch attempt {
            case .moved(0), .failed(ECONNRESET): return nil
            case .moved(let count): return Array(buffer[..<count])
            case .wouldBlock: _ = try await descriptor.readable()
            case .failed(let number): throw Failed("cannot receive: \(number)")
            case .closed: return nil
            }
        }
    }

    /// Everything received until the server closes.
    func receiveAll() async throws -> String {
        var all: [UInt8] = []
        while let bytes = try await receive() { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// Everything received up to a text, or until the end.
    func receive(until mark: String) async throws -> String {
        var all = ""
        while !all.contains(mark), let bytes = try await receive() { all += String(decoding: bytes, as: UTF8.self) }
        return all
    }

    /// Closes the sending side and keeps reading.
    func halfClose() {
        _ = descriptor.withDescriptor { socket, _ in shutdown(socket, Int32(SHUT_WR)) }
    }

    /// Closes without a shutdown, so that the server sees a reset.
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
    /// The status code in the first line of a response.
    var status: Int? { split(separator: " ").dropFirst().first.flatMap { Int($0) } }

    /// The part after the head.
    var answerBody: String {
        guard let head = firstRange(of: "\r\n\r\n") else { return "" }
        return String(self[head.upperBound...])
    }

    func firstRange(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }

    func occurrences(of text: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = String(rest).firstRange(of: text) {
            count += 1
            rest = rest.dropFirst(rest.distance(from: rest.startIndex, to: range.upperBound))
            rest = String(rest)[...]
        }
        return count
    }
}
