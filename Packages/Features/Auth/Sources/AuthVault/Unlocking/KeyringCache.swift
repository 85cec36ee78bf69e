import CAuthVault
import Capabilities
import Cryptography
import Glibc

/// Keeps the key of an unlocked vault in the kernel for some hours, so that not every command asks for the passphrase.
///
/// The key is stored in the session keyring of the login, which ends at logout. If PAM created none, requesting it
/// would create one that ends with this process, and the kernel's fallback is shared by all logins of a user. Then the
/// key is stored in the user keyring, which ends with the user's last process. Containers may forbid all of this; then
/// nothing is stored.
struct KeyringCache: Sendable {
    // The possessor may see, read, search, link and set attributes. Other processes of the same user may only see that
    // the key exists.
    private static let permissions: UInt32 = 0x3B01_0000

    /// The name of the key in the kernel, also shown in `/proc/keys`.
    let description: String
    private let seconds: UInt32

    /// The salt is part of the name, so a new passphrase makes the old entry useless.
    init(vaultPath: String, salt: [UInt8], keeping time: Duration) {
        let hash = Digest.sha256(Array(vaultPath.utf8) + [0] + salt)
        description = "martlet:vault:\(Hexadecimal.encode(Array(hash.prefix(16))))"
        seconds = UInt32(clamping: max(time.components.seconds, 1))
    }

    /// Stores the key, if the kernel allows it.
    func store(_ key: SecretBytes) {
        // The key gets its limits in the thread keyring first. Only then is it linked to where other processes can find
        // it.
        let serial = key.withBytes { key in
            unsafe key.withUnsafeBytes { key in
                unsafe authvault_key_add(description, key.baseAddress, Int32(key.count), Self.thread)
            }
        }
        guard serial > 0 else { return }
        defer { authvault_key_unlink(serial, Self.thread) }
        guard authvault_key_expire(serial, seconds) == 0, authvault_key_restrict(serial, Self.permissions) == 0
        else { return }
        for ring in Self.rings where authvault_key_link(serial, ring) == 0 { return }
    }

    /// The key, if it was stored and has not expired.
    func load() -> SecretBytes? {
        for ring in Self.rings {
            guard let serial = find(in: ring) else { continue }
            defer { authvault_key_unlink(serial, Self.thread) }
            var bytes = [UInt8](repeating: 0, count: VaultKey.size)
            defer { bytes.wipe() }
            // The result is the size of the stored key, which may be more than was read.
            let size = unsafe authvault_key_read(serial, &bytes, Int32(bytes.count))
            if size == VaultKey.size { return SecretBytes(copying: bytes.span) }
        }
        return nil
    }

    /// Removes the key from the kernel at once.
    func forget() {
        for ring in Self.rings {
            guard let serial = find(in: ring) else { continue }
            authvault_key_invalidate(serial)
        }
    }

    /// Finds the key and links it to this thread, because only the possessor may read a key.
    private func find(in ring: Int32) -> Int32? {
        let serial = unsafe authvault_key_search(ring, description, Self.thread)
        return serial > 0 ? serial : nil
    }

    private static let thread = Int32(AUTHVAULT_THREAD_RING)

    /// The keyrings to search and to link to, in order of preference. These special ids count as possessed, unlike
    /// serial numbers.
    private static var rings: [Int32] {
        let (session, user) = (Int32(AUTHVAULT_SESSION_RING), Int32(AUTHVAULT_USER_RING))
        let serial = authvault_ring(session)
        let isOfLogin = serial > 0 && serial != authvault_ring(Int32(AUTHVAULT_USER_SESSION_RING))
        return isOfLogin ? [session, user] : [user]
    }
}
