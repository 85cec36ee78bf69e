import Cryptography
import Glibc
import LoopKit

/// Moves bytes over the connection. Used under the connection's lock, while its descriptor is lent.
enum Transport {
    case plain
    case tls(TLSChannel)

    /// The result of one attempt to move bytes.
    enum Moved {
        case bytes(Int)
        /// The peer sends no more.
        case ended
        /// No bytes can move until the descriptor is ready in that direction.
        case wait(Readiness)
        case failed
    }

    /// Receives available bytes into a buffer that is not empty.
    func receive(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, _ ready: inout Readiness) -> Moved {
        if case .tls(let channel) = self { return unsafe channel.receive(buffer, &ready) }
        let result = retrying { unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0) }
        guard result >= 0 else { return blocked(.readable, &ready) }
        if result == 0 { return .ended }
        // Per epoll(7), a short read means that nothing is left; trying again would waste a call.
        if result < buffer.count { ready.subtract(.readable) }
        return .bytes(result)
    }

    /// Sends some of the bytes. After a wait, pass the same bytes again, perhaps with more behind them.
    func send(_ descriptor: Int32, _ bytes: Span<UInt8>, _ ready: inout Readiness) -> Moved {
        if case .tls(let channel) = self { return channel.send(bytes, &ready) }
        let flags = Int32(MSG_NOSIGNAL)
        let result = unsafe bytes.withUnsafeBytes { bytes in
            retrying { unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags) }
        }
        guard result >= 0 else { return blocked(.writable, &ready) }
        return .bytes(result)
    }

    /// Tells the peer that nothing more follows, and ends that direction of the connection.
    func finish(_ descriptor: Int32) {
        if case .tls(let channel) = self { channel.finish() }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    private func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    private func blocked(_ direction: Readiness, _ ready: inout Readiness) -> Moved {
        guard errno == EAGAIN else { return .failed }
        ready.subtract(direction)
        return .wait(direction)
    }
}

/// The TLS session of one connection, shared by the copies of its `Transport`.
final class TLSChannel: @unchecked Sendable {
    // Sendable because every use is under the lock of the connection that owns it.
    private var session: TLSSession

    init(_ context: TLSServerContext, _ descriptor: Int32) throws(CryptographyError) {
        session = try TLSSession(context, descriptor: descriptor)
    }

    func handshake(_ ready: inout Readiness) -> Transport.Moved {
        Self.moved(session.handshake(), &ready)
    }

    func receive(_ buffer: UnsafeMutableRawBufferPointer, _ ready: inout Readiness) -> Transport.Moved {
        Self.moved(unsafe session.read(into: buffer), &ready)
    }

    func send(_ bytes: Span<UInt8>, _ ready: inout Readiness) -> Transport.Moved {
        Self.moved(session.write(bytes), &ready)
    }

    func finish() {
        // The result does not matter, because the connection closes in any case.
        _ = session.shutdown()
    }

    private static func moved(_ progress: TLSProgress, _ ready: inout Readiness) -> Transport.Moved {
        switch progress {
        case .done(let count): return .bytes(count)
        case .closed: return .ended
        case .failed: return .failed
        case .wantRead:
            ready.subtract(.readable)
            return .wait(.readable)
        case .wantWrite:
            ready.subtract(.writable)
            return .wait(.writable)
        }
    }
}
