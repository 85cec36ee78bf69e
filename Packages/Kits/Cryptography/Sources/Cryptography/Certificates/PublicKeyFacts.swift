import COpenSSL

/// What kind of public key a certificate carries, and how long it is.
public struct PublicKeyFacts: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case rsa
        case dsa
        case ellipticCurve
        case ed25519
        case ed448
        /// Another, in the library's word for it.
        case other(String)
    }

    public let kind: Kind
    /// 0 when the library does not know this kind.
    public let bits: Int

    private init(kind: Kind, bits: Int) {
        self.kind = kind
        self.bits = bits
    }

    static let unknown = PublicKeyFacts(kind: .other("unknown"), bits: 0)

    init(of key: OpaquePointer) {
        let number = unsafe EVP_PKEY_get_base_id(key)
        switch number {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: kind = .rsa
        case EVP_PKEY_DSA: kind = .dsa
        case EVP_PKEY_EC: kind = .ellipticCurve
        case EVP_PKEY_ED25519: kind = .ed25519
        case EVP_PKEY_ED448: kind = .ed448
        default: kind = .other(unsafe OBJ_nid2ln(number).map { unsafe String(cString: $0) } ?? "unknown")
        }
        bits = Int(unsafe EVP_PKEY_get_bits(key))
    }

    /// Whether it can be broken with an effort that is within reach: less than 112 bits of security.
    public var isWeak: Bool {
        switch kind {
        case .rsa, .dsa: bits < 2048
        case .ellipticCurve: bits < 224
        case .ed25519, .ed448, .other: false
        }
    }
}
