public import Capabilities
import Cryptography

/// The proof that whoever brings a code is the one who asked for it (RFC 7636, method S256).
public struct PKCE: Sendable {
    /// Stays here until the code is exchanged.
    public let verifier: Secret
    /// Goes with the request, and says nothing about the verifier.
    public let challenge: String

    /// A new proof of 256 random bits.
    public init() throws {
        self.init(verifier: Secret(Base64URL.encode(try Random.bytes(32))))
    }

    init(verifier: Secret) {
        self.verifier = verifier
        challenge = verifier.withText { Base64URL.encode(Digest.sha256(Array($0.utf8))) }
    }
}
