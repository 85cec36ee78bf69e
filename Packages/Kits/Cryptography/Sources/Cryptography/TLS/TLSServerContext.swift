import CCryptography
import COpenSSL

/// The shared state of all TLS connections of a server: certificate and key, TLS 1.2 or later, and HTTP/1.1.
@safe
public final class TLSServerContext: Sendable {
    // libssl counts references atomically, and nothing is changed after the initialiser.
    nonisolated(unsafe) let handle: OpaquePointer

    /// With `clientAuthorities`, clients must present a certificate signed by one of them.
    public init(identity: Identity, clientAuthorities: [Certificate] = []) throws(CryptographyError) {
        ErrorQueue.clear()
        guard let handle = unsafe ccryptography_server_context() else {
            throw ErrorQueue.failure("prepare a TLS server")
        }
        do throws(CryptographyError) {
            try unsafe Self.present(identity, on: handle)
            for authority in clientAuthorities {
                let certificate = try X509Handle(der: authority.encoded.span)
                guard unsafe ccryptography_demand_client(handle, certificate.pointer) == 1 else {
                    throw ErrorQueue.failure("require client certificates")
                }
            }
        } catch {
            unsafe SSL_CTX_free(handle)
            throw error
        }
        unsafe self.handle = handle
    }

    deinit { unsafe SSL_CTX_free(handle) }

    private static func present(_ identity: Identity, on handle: OpaquePointer) throws(CryptographyError) {
        let own = try X509Handle(der: identity.certificate.encoded.span)
        ErrorQueue.clear()
        guard unsafe SSL_CTX_use_certificate(handle, own.pointer) == 1,
            unsafe SSL_CTX_use_PrivateKey(handle, identity.key.handle) == 1
        else {
            throw Self.unusable(identity.certificate)
        }
        for certificate in identity.chain.dropFirst() {
            let issuer = try X509Handle(der: certificate.encoded.span)
            guard unsafe ccryptography_add_chain(handle, issuer.pointer) == 1 else {
                throw Self.unusable(certificate)
            }
        }
    }

    private static func unusable(_ certificate: Certificate) -> CryptographyError {
        CryptographyError(
            .key, "the certificate of \(certificate.subject) cannot be used for TLS: \(ErrorQueue.reason())")
    }
}
