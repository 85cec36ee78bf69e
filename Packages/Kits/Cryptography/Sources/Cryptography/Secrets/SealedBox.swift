/// Something that was sealed with a `SealingKey`: a nonce of 12 bytes, the encrypted bytes and a tag of 16 bytes.
public struct SealedBox: Sendable, Hashable {
    /// All three in this order, for storage.
    public let encoded: [UInt8]

    static let nonceSize = 12
    static let tagSize = 16
    static let overhead = nonceSize + tagSize

    /// Reads what `encoded` gave; whether it is authentic turns out when it is opened.
    public init(encoded: [UInt8]) throws(CryptographyError) {
        guard encoded.count >= Self.overhead else { throw .notAuthenticBox }
        self.encoded = encoded
    }
}

extension CryptographyError {
    /// One error for a wrong key, a changed byte and a missing end, because telling them apart would help an attacker.
    static var notAuthenticBox: CryptographyError {
        CryptographyError(.notAuthentic, "the key is wrong, or the sealed data was changed or cut")
    }
}
