import CCryptography
import COpenSSL

/// A certificate with its private key, and the certificates up to a known authority.
public struct Identity: Sendable {
    /// Its own certificate first, each followed by its issuer's. The authority at the end may be omitted.
    public let chain: [Certificate]
    /// The private key of the first certificate.
    public let key: PrivateKey

    /// Its own certificate.
    public var certificate: Certificate { chain[0] }

    /// Combines a chain and a key. Rejects a key that does not belong to the first certificate.
    public init(chain: [Certificate], key: PrivateKey) throws(CryptographyError) {
        guard let own = chain.first else {
            throw CryptographyError(.parameters, "a server needs a certificate")
        }
        let handle = try X509Handle(der: own.encoded.span)
        ErrorQueue.clear()
        guard unsafe X509_check_private_key(handle.pointer, key.handle) == 1 else {
            ErrorQueue.clear()
            throw CryptographyError(
                .key, "the private key does not belong to the first certificate, of \(own.subject)")
        }
        self.chain = chain
        self.key = key
    }

    /// Parses the chain and the key, which must not be encrypted, from PEM texts.
    public init(chainPEM: Span<UInt8>, keyPEM: Span<UInt8>) throws(CryptographyError) {
        try self.init(chain: Certificate.chain(pem: chainPEM), key: PrivateKey(pem: keyPEM))
    }

    /// The chain as PEM blocks.
    public var chainPEM: String { chain.map(\.pem).joined() }

    /// The chain and the key as one PEM text, for a private file. `init(chainPEM:keyPEM:)` accepts it for both.
    public func pem() throws(CryptographyError) -> SecretBytes {
        let chain = Array(chainPEM.utf8)
        let text = try key.pem().withBytes { key in
            var text = chain
            text.reserveCapacity(chain.count + key.count)
            for index in key.indices { text.append(key[index]) }
            return text
        }
        return SecretBytes(copying: text.span)
    }
}

/// A private key. It has no printable description, and its memory is wiped when the last reference is released.
@safe
public final class PrivateKey: Sendable {
    /// The kind of a new key.
    public enum Kind: Sendable, Hashable {
        /// An elliptic curve key that every TLS peer understands.
        case p256
        /// An RSA key of this length.
        case rsa(bits: Int)
    }

    /// The kind and length of the key.
    public let facts: PublicKeyFacts
    // libcrypto counts references atomically and never changes a key after it was created or parsed.
    nonisolated(unsafe) let handle: OpaquePointer

    private init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
        facts = unsafe PublicKeyFacts(of: handle)
    }

    /// Creates a new key. RSA takes about 0.1 to 1 second.
    public convenience init(making kind: Kind) throws(CryptographyError) {
        ErrorQueue.clear()
        let made: OpaquePointer?
        switch kind {
        case .p256: unsafe made = ccryptography_generate_p256()
        case .rsa(let bits):
            guard (1024...8192).contains(bits) else {
                throw CryptographyError(.parameters, "an RSA key must have 1024 to 8192 bits, not \(bits)")
            }
            unsafe made = ccryptography_generate_rsa(bits)
        }
        guard let made = unsafe made else { throw ErrorQueue.failure("create a key") }
        unsafe self.init(owning: made)
    }

    /// Parses the first key of a PEM text, which must not be encrypted.
    public convenience init(pem: Span<UInt8>) throws(CryptographyError) {
        let text = try MemoryBIO.holding(pem)
        ErrorQueue.clear()
        guard let key = unsafe ccryptography_read_key(text.handle) else {
            throw CryptographyError(
                .malformed,
                "the private key cannot be read; it must be a PEM block without a password: \(ErrorQueue.reason())")
        }
        unsafe self.init(owning: key)
    }

    deinit { unsafe EVP_PKEY_free(handle) }

    /// The key as an unencrypted PEM block.
    public func pem() throws(CryptographyError) -> SecretBytes {
        let text = try MemoryBIO()
        ErrorQueue.clear()
        guard unsafe PEM_write_bio_PKCS8PrivateKey(text.handle, handle, nil, nil, 0, nil, nil) == 1 else {
            throw ErrorQueue.failure("write a private key")
        }
        return unsafe text.withContent { unsafe SecretBytes(copying: Span(_unsafeElements: $0)) }
    }
}

extension PrivateKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "‹redacted›" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
