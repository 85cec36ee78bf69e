import COpenSSL
import Glibc
import Testing

@testable import Cryptography

/// A client context configured as libcurl configures its own.
@safe
final class ClientContext {
    let handle: OpaquePointer

    init(authorities: [Certificate] = [], identity: Identity? = nil, newest: Int32 = TLS1_3_VERSION) throws {
        guard let handle = unsafe SSL_CTX_new(TLS_client_method()) else { throw ErrorQueue.failure("make a client") }
        unsafe self.handle = handle
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(newest), nil)
        // As in libcurl, so that an intermediate authority of a chain can be trusted.
        let store = unsafe SSL_CTX_get_cert_store(handle)
        unsafe X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        for authority in authorities {
            let certificate = try X509Handle(der: authority.encoded.span)
            unsafe X509_STORE_add_cert(store, certificate.pointer)
        }
        if let identity {
            let certificate = try X509Handle(der: identity.certificate.encoded.span)
            unsafe SSL_CTX_use_certificate(handle, certificate.pointer)
            unsafe SSL_CTX_use_PrivateKey(handle, identity.key.handle)
        }
    }

    deinit { unsafe SSL_CTX_free(handle) }

    func install(_ verification: ServerVerification) throws {
        try unsafe verification.install(on: UnsafeMutableRawPointer(handle))
    }

    /// A session that offers these protocols, in the ALPN wire format.
    func session(_ descriptor: Int32, offering protocols: String = "") throws -> TLSSession {
        let session = try unsafe TLSSession.make(handle, descriptor)
        unsafe SSL_set_connect_state(session)
        let list = Array(protocols.utf8)
        if !list.isEmpty { unsafe SSL_set_alpn_protos(session, list, UInt32(list.count)) }
        return unsafe TLSSession(owning: session)
    }
}

/// Two connected sockets, closed with the value.
struct SocketPair: ~Copyable {
    let server: Int32
    private(set) var client: Int32

    init() throws {
        var descriptors: [Int32] = [-1, -1]
        try #require(
            unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &descriptors) == 0
        )
        (server, client) = (descriptors[0], descriptors[1])
    }

    mutating func closeClient() {
        // A child that another test is starting may have a copy of it for a moment.
        shutdown(client, Int32(SHUT_RDWR))
        close(client)
        client = -1
    }

    deinit {
        close(server)
        if client >= 0 { close(client) }
    }
}

/// Lets both sides take turns until each is done or has failed.
func shake(_ client: inout TLSSession, _ server: inout TLSSession) -> (client: TLSProgress, server: TLSProgress) {
    var (first, second) = (TLSProgress.wantRead, TLSProgress.wantRead)
    for _ in 0..<20 {
        if first == .wantRead || first == .wantWrite { first = client.handshake() }
        if second == .wantRead || second == .wantWrite { second = server.handshake() }
    }
    return (first, second)
}

extension TLSSession {
    mutating func read(upTo count: Int) -> (TLSProgress, [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: count)
        let progress = unsafe buffer.withUnsafeMutableBytes { unsafe read(into: $0) }
        guard case .done(let count) = progress else { return (progress, []) }
        return (progress, Array(buffer[..<count]))
    }
}

extension TLSProgress {
    var failure: CryptographyError? {
        if case .failed(let error) = self { error } else { nil }
    }
}
