import Cryptography
import Glibc

/// The key of one vault: bytes from a passphrase or a key file, together with the vault's salt.
///
/// Sealing and checking use separate subkeys, so that the check in the header reveals nothing about the sealing key.
struct VaultKey: Sendable {
    static let size = 32

    let salt: [UInt8]
    let bytes: SecretBytes

    /// Takes as long as `scrypt` demands, and blocks the thread.
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

    /// The key check in the header, which detects a wrong key before anything is opened.
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
    /// Overwrites the bytes. Unlike plain assignments, the compiler cannot optimise this away.
    mutating func wipe() {
        unsafe withUnsafeMutableBytes { buffer in
            if let start = buffer.baseAddress { unsafe explicit_bzero(start, buffer.count) }
        }
    }
}
