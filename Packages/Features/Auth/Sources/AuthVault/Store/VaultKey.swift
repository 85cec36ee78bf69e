import Cryptography
import Glibc

/// What opens one vault: the bytes that a passphrase or a key file gave together with the vault's salt.
///
/// Sealing and checking each use a key of their own that is made from it, so that the check in the header says nothing
/// about the key that seals.
struct VaultKey: Sendable {
    static let size = 32

    let salt: [UInt8]
    let bytes: SecretBytes

    /// Takes about as long as `scrypt` asks for, and blocks the thread.
    init(passphrase: SecretBytes, salt: [UInt8], scrypt: Scrypt) throws {
        self.init(bytes: try scrypt.derive(from: passphrase, salt: salt), salt: salt)
    }

    init(keyFile: SecretBytes, salt: [UInt8]) throws {
        self.init(bytes: try Self.subkey("martlet vault 1 key file", salt, of: keyFile), salt: salt)
    }

    init(bytes: SecretBytes, salt: [UInt8]) {
        self.bytes = bytes
        self.salt = salt
    }

    /// What the header holds so that a wrong key is noticed before anything is opened.
    func check() throws -> [UInt8] {
        let message = Array("martlet vault 1 check".utf8) + salt
        return try HMAC.sha256(message.span, key: bytes)
    }

    func fits(_ header: VaultHeader) throws -> Bool {
        guard salt == header.salt else { return false }
        let own = try check()
        return ConstantTime.equal(own.span, header.check.span)
    }

    func sealingKey() throws -> SealingKey {
        try SealingKey(Self.subkey("martlet vault 1 seal", salt, of: bytes))
    }

    private static func subkey(_ label: String, _ salt: [UInt8], of key: SecretBytes) throws -> SecretBytes {
        let message = Array(label.utf8) + salt
        var code = try HMAC.sha256(message.span, key: key)
        defer { code.wipe() }
        return SecretBytes(copying: code.span)
    }
}

extension [UInt8] {
    /// Overwrites the bytes for good; the compiler must not leave this out, as it may with plain assignments.
    mutating func wipe() {
        unsafe withUnsafeMutableBytes { buffer in
            if let start = buffer.baseAddress { unsafe explicit_bzero(start, buffer.count) }
        }
    }
}
