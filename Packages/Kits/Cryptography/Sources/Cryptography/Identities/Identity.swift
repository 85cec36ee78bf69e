import COpenSSL

/// A certificate with what is needed to prove it: the key, and the certificates between it and a known authority.
public struct Identity: Sendable {
    /// Its own certificate first, each followed by its issuer's; the authority at the end may be left out.
    public let chain: [Certificate]
    public let key: PrivateKey

    /// Its own certificate.
    public var certificate: Certificate { chain[0] }

    /// Puts together what belongs together, and refuses a key that is another's.
    public init(chain: [Certificate], key: PrivateKey) throws(CryptographyError) {
        guard let own = chain.first else {
            throw CryptographyError(.parameters, "a server needs a certificate")
        }
        let handle = try X509Handle(der: own.encoded.span)
        ErrorQueue.clear()
        guard unsafe X509_check_private_key(handle.pointer, key.handle) == 1 else {
            ErrorQueue.clear()
            throw CryptographyError(
                .key, "the private key does not belong to the first certificate, which is that of \(own.subject)")
        }
        self.chain = chain
        self.key = key
    }

    /// Reads PEM texts: the chain, and the key, which must not be encrypted.
    public init(chainPEM: Span<UInt8>, keyPEM: Span<UInt8>) throws(CryptographyError) {
        try self.init(chain: Certificate.chain(pem: chainPEM), key: PrivateKey(pem: keyPEM))
    }

    /// The chain as PEM blocks.
    public var chainPEM: String { chain.map(\.pem).joined() }
}
