import Capabilities
import Cryptography
import LoopKit
import Synchronization

extension Vault {
    /// The key of the vault with this header: remembered, from the kernel, given beforehand, or asked for.
    func key(for header: VaultHeader) async throws -> VaultKey {
        if let key = try remembered(header) { return key }
        try await unlocked.opening.take()
        defer { unlocked.opening.pass() }
        if let key = try remembered(header) { return key }
        let found = try await find(header)
        unlocked.key.withLock { $0 = found }
        return found
    }

    func remembered(_ header: VaultHeader) throws -> VaultKey? {
        guard let key = unlocked.key.withLock({ $0 }), try key.fits(header) else { return nil }
        return key
    }

    /// The key that the kernel keeps.
    func kept(_ header: VaultHeader) throws -> VaultKey? {
        guard let bytes = cache(for: header.salt)?.load() else { return nil }
        let key = VaultKey(bytes: bytes, salt: header.salt)
        return try key.fits(header) ? key : nil
    }

    func cache(for salt: [UInt8]) -> KeyringCache? {
        setup.keepUnlocked.map { KeyringCache(vaultPath: path, salt: salt, keeping: $0) }
    }

    /// Makes the key from a passphrase, away from the threads that others need.
    func derive(_ passphrase: Secret, salt: [UInt8], _ scrypt: Scrypt) async throws -> VaultKey {
        try await onOwnThread {
            Result { try VaultKey(passphrase: SecretBytes(passphrase), salt: salt, scrypt: scrypt) }
        }.get()
    }

    private func find(_ header: VaultHeader) async throws -> VaultKey {
        switch header.form {
        case .keyFile: return try fromKeyFile(header)
        case .passphrase(let scrypt):
            if let key = try kept(header) { return key }
            let key = try await fromPassphrase(header, scrypt)
            cache(for: header.salt)?.store(key.bytes)
            return key
        }
    }

    func fromKeyFile(_ header: VaultHeader) throws -> VaultKey {
        guard let secret = try KeyFile.read(setup.keyFile) else {
            throw VaultError(
                .keyFile, "the key file \(setup.keyFile) of the vault \(path) is missing; restore it from a backup")
        }
        let key = try VaultKey(keyFile: secret, salt: header.salt)
        guard try key.fits(header) else {
            throw VaultError(
                .keyFile,
                "the key file \(setup.keyFile) does not open the vault \(path); restore the two from the same backup")
        }
        return key
    }

    private func fromPassphrase(_ header: VaultHeader, _ scrypt: Scrypt) async throws -> VaultKey {
        if let (passphrase, origin) = try await setup.passphrase.given() {
            let key = try await derive(passphrase, salt: header.salt, scrypt)
            if try key.fits(header) { return key }
            throw VaultError(
                .wrongPassphrase, "the passphrase \(origin) does not open the vault \(path); give the right one")
        }
        for attempt in 1...3 {
            guard let passphrase = try await setup.passphrase.ask(.unlock(attempt: attempt)) else {
                throw VaultError(
                    .unanswered,
                    "the vault \(path) needs its passphrase and nobody is there to give it; run it on a terminal, or "
                        + "set \(PassphraseSources.variable)")
            }
            let key = try await derive(passphrase, salt: header.salt, scrypt)
            if try key.fits(header) { return key }
        }
        throw VaultError(.wrongPassphrase, "none of three passphrases opens the vault \(path); try again")
    }
}
