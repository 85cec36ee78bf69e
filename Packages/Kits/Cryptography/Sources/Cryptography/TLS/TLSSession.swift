import CCryptography
import COpenSSL
import Glibc

/// One TLS connection over a socket that the caller owns. No step blocks or raises SIGPIPE.
///
///     var session = try TLSSession(context, descriptor: socket)
///     switch session.handshake() { … }      // .wantRead: call it again when the socket can be read
///
/// Read until `.wantRead` before waiting for the socket, because decrypted bytes in the buffer do not make the socket
/// ready. The descriptor must stay open for as long as this value exists. The caller closes it.
@safe
public struct TLSSession: ~Copyable, @unchecked Sendable {
    // Sendable because there is one owner at a time, and every method that changes the handle is mutating.
    private let handle: OpaquePointer
    // After a fatal error the library allows only freeing.
    private var failure: CryptographyError?

    /// The server's side of a connection.
    public init(_ context: TLSServerContext, descriptor: Int32) throws(CryptographyError) {
        let handle = try unsafe Self.make(context.handle, descriptor)
        unsafe SSL_set_accept_state(handle)
        unsafe self.init(owning: handle)
    }

    /// Takes over a connection that is already set to client or server.
    init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    static func make(_ context: OpaquePointer, _ descriptor: Int32) throws(CryptographyError) -> OpaquePointer {
        ErrorQueue.clear()
        guard let handle = unsafe SSL_new(context) else { throw ErrorQueue.failure("start a TLS connection") }
        guard unsafe ccryptography_use_socket(handle, descriptor) == 1 else {
            unsafe SSL_free(handle)
            throw ErrorQueue.failure("start a TLS connection")
        }
        return unsafe handle
    }

    deinit { unsafe SSL_free(handle) }

    // MARK: Steps

    /// Performs the handshake, which must finish before any read or write.
    public mutating func handshake() -> TLSProgress {
        if let failure { return .failed(failure) }
        ErrorQueue.clear()
        let result = unsafe SSL_do_handshake(handle)
        return result == 1 ? .done(0) : explain(result)
    }

    /// Reads at least one byte, up to the size of the buffer.
    public mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSProgress {
        if let failure { return .failed(failure) }
        guard unsafe !buffer.isEmpty else { return .done(0) }
        ErrorQueue.clear()
        var count = 0
        let result = unsafe SSL_read_ex(handle, buffer.baseAddress, buffer.count, &count)
        return result == 1 ? .done(count) : explain(result)
    }

    /// Writes at least one of the bytes. After `.wantRead` or `.wantWrite`, repeat with the same bytes. More bytes may
    /// follow them.
    public mutating func write(_ bytes: Span<UInt8>) -> TLSProgress {
        if let failure { return .failed(failure) }
        guard !bytes.isEmpty else { return .done(0) }
        ErrorQueue.clear()
        var count = 0
        let result = unsafe bytes.withUnsafeBytes { unsafe SSL_write_ex(handle, $0.baseAddress, $0.count, &count) }
        return result == 1 ? .done(count) : explain(result)
    }

    /// Sends the closing message, which lets the peer detect truncation. Does not wait for the reply.
    public mutating func shutdown() -> TLSProgress {
        if let failure { return .failed(failure) }
        guard unsafe SSL_is_init_finished(handle) == 1 else { return .done(0) }
        ErrorQueue.clear()
        let result = unsafe SSL_shutdown(handle)
        return result >= 0 ? .done(0) : explain(result)
    }

    private mutating func explain(_ result: Int32) -> TLSProgress {
        // Read first, because other calls may change it.
        let number = errno
        let reason = unsafe SSL_get_error(handle, result)
        switch reason {
        case SSL_ERROR_WANT_READ: return .wantRead
        case SSL_ERROR_WANT_WRITE: return .wantWrite
        case SSL_ERROR_ZERO_RETURN: return .closed
        default:
            let entry = ErrorQueue.take()
            let error = entry.map { self.error($0) } ?? .connection(errno: reason == SSL_ERROR_SYSCALL ? number : 0)
            failure = error
            return .failed(error)
        }
    }

    private borrowing func error(_ entry: ErrorQueue.Entry) -> CryptographyError {
        guard entry.library == ERR_LIB_SSL else {
            return CryptographyError(.handshake, "the TLS connection failed: \(entry.words)")
        }
        return .tls(reason: entry.reason, words: entry.words, verdict: verdict)
    }
}

extension TLSSession {
    /// The library's result of verifying the peer's certificate.
    var verdict: Int { unsafe SSL_get_verify_result(handle) }

    /// The negotiated protocol, "http/1.1", or nil when the peer did not offer one.
    public var negotiatedProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(handle, &start, &count)
        guard let start = unsafe start, count > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// "TLSv1.3".
    public var version: String {
        unsafe SSL_get_version(handle).map { unsafe String(cString: $0) } ?? "unknown"
    }

    /// The peer's certificate, proved by the handshake.
    public func peerCertificate() throws(CryptographyError) -> Certificate? {
        guard let pointer = unsafe SSL_get1_peer_certificate(handle) else { return nil }
        return try Certificate(unsafe X509Handle(owning: pointer))
    }
}

/// The result of one step of a TLS connection.
public enum TLSProgress: Sendable, Hashable {
    /// Done, with the number of bytes read or written; 0 for a handshake and a shutdown.
    case done(Int)
    /// The socket must become readable; then repeat the same step.
    case wantRead
    /// The socket must become writable; then repeat the same step.
    case wantWrite
    /// The peer has finished sending.
    case closed
    /// It failed, and the connection can no longer be used.
    case failed(CryptographyError)
}
