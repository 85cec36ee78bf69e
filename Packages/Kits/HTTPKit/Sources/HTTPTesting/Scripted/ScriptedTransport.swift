public import Cryptography
import Glibc

/// Moves the bytes of a connection, plain or through TLS, in blocking calls. The server owns the descriptor.
protocol ScriptedTransport: AnyObject {
    var socket: Int32 { get }
    /// Returns 0 if the peer has left.
    func receive(into block: inout [UInt8], atMost most: Int) throws -> Int
    /// Returns the number of sent bytes, or 0 if the peer has left.
    func send(_ bytes: [UInt8], from start: Int) throws -> Int
    /// Ends this side as the protocol requires.
    func close()
    /// Ends this side of the socket without the TLS close.
    func cut()
}

extension ScriptedTransport {
    /// Waits without reading; true as soon as the peer has closed its side or the connection is broken.
    func peerLeaves(within time: Duration) throws -> Bool {
        // POLLRDHUP, which the Glibc module lacks.
        try Sockets.wait(socket, for: 0x2000, atMost: time)
    }

    /// Discards incoming data for a moment: closing a socket with unread data would reset it, and the peer might lose
    /// data sent to it.
    func drain() {
        _ = shutdown(socket, Int32(SHUT_WR))
        var block = [UInt8](repeating: 0, count: 1 << 16)
        let deadline = ContinuousClock.now + .milliseconds(200)
        while case let left = ContinuousClock.now.duration(to: deadline), left > .zero {
            // A failed wait also ends the draining.
            guard (try? Sockets.wait(socket, for: Int16(POLLIN), atMost: left)) == true else { return }
            let got = unsafe block.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            guard got > 0 else { return }
        }
    }
}

/// A connection without TLS.
final class PlainTransport: ScriptedTransport {
    let socket: Int32

    init(_ socket: Int32) {
        self.socket = socket
    }

    func receive(into block: inout [UInt8], atMost most: Int) throws -> Int {
        while true {
            let got = unsafe block.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, most, 0) }
            if got >= 0 { return got }
            guard errno == EINTR else { return 0 }
        }
    }

    func send(_ bytes: [UInt8], from start: Int) throws -> Int {
        while true {
            let sent = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
                return unsafe Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if sent >= 0 { return sent }
            guard errno == EINTR else { return 0 }
        }
    }

    func close() {}

    func cut() {
        _ = shutdown(socket, Int32(SHUT_WR))
    }
}

/// The certificate of a `ScriptedServer`, and the clients it accepts.
public struct ScriptedTLS: Sendable {
    private let context: TLSServerContext

    /// - Parameter clientAuthorities: If not empty, clients must present a certificate signed by one of these.
    public init(_ identity: Identity, clientAuthorities: [Certificate] = []) throws(CryptographyError) {
        context = try TLSServerContext(identity: identity, clientAuthorities: clientAuthorities)
    }

    func accept(_ socket: Int32) throws -> any ScriptedTransport {
        try TLSTransport(context, socket)
    }
}

/// A connection through TLS. The socket does not block, so that a wait is for the direction that TLS needs.
private final class TLSTransport: ScriptedTransport {
    let socket: Int32
    private var session: TLSSession
    private var isCut = false

    init(_ context: TLSServerContext, _ socket: Int32) throws {
        self.socket = socket
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        session = try TLSSession(context, descriptor: socket)
        while true {
            switch session.handshake() {
            case .done: return
            case .closed: throw ScriptError.failed("the peer left in the handshake")
            case .failed(let error): throw ScriptError.failed("the handshake failed: \(error.message)")
            case .wantRead: try wait(POLLIN)
            case .wantWrite: try wait(POLLOUT)
            }
        }
    }

    func receive(into block: inout [UInt8], atMost most: Int) throws -> Int {
        try complete { session in
            unsafe block.withUnsafeMutableBytes { block in
                unsafe session.read(into: UnsafeMutableRawBufferPointer(rebasing: block[..<most]))
            }
        }
    }

    func send(_ bytes: [UInt8], from start: Int) throws -> Int {
        try complete { session in session.write(bytes.span.extracting(start...)) }
    }

    func cut() {
        isCut = true
        _ = shutdown(socket, Int32(SHUT_WR))
    }

    func close() {
        if !isCut { _ = session.shutdown() }
    }

    /// Repeats a step until it is done; 0 if the peer has left, with or without close_notify.
    private func complete(_ step: (inout TLSSession) -> TLSProgress) throws -> Int {
        while true {
            switch step(&session) {
            case .done(let count): return count
            case .closed, .failed: return 0
            case .wantRead: try wait(POLLIN)
            case .wantWrite: try wait(POLLOUT)
            }
        }
    }

    private func wait(_ events: Int32) throws {
        _ = try Sockets.wait(socket, for: Int16(events), atMost: .seconds(3600))
    }
}
