public import Cryptography
import Glibc

/// What a `ScriptedServer` shows of itself, and whom it lets in.
public struct ScriptedTLS: Sendable {
    private let context: TLSServerContext

    /// - Parameter clientAuthorities: With any, clients must show a certificate that one of these signed.
    public init(_ identity: Identity, clientAuthorities: [Certificate] = []) throws(CryptographyError) {
        context = try TLSServerContext(identity: identity, clientAuthorities: clientAuthorities)
    }

    func accept(_ socket: Int32) throws -> any ScriptedTransport {
        try TLSTransport(context, socket)
    }
}

/// A connection through TLS. The socket does not block, so that one waits for what TLS needs at the moment.
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

    /// Repeats a step until it is done; 0 when the peer has left, with or without notice.
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
