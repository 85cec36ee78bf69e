import CAuthVault
import Cryptography
import Glibc

/// Keeps the key of an unlocked vault in the kernel for some hours, so that not every command asks for the passphrase.
///
/// It lies in the session keyring of the login, which goes at logout. Where PAM made none, asking for it would make one
/// that dies with this process, and the kernel's fallback is the same for all logins of a user; then it lies in the
/// user's keyring, which goes with the user's last process. Containers may forbid all of it: then nothing is kept.
struct KeyringCache: Sendable {
    // For who possesses the key through a keyring: see, read, search, link, set attributes. Others of the same user
    // may see that it is there.
    private static let permissions: UInt32 = 0x3B01_0000

    /// What the kernel calls it, in `/proc/keys` too.
    let description: String
    private let seconds: UInt32

    /// The salt is part of the name, so a new passphrase makes the old entry useless.
    init(vaultPath: String, salt: [UInt8], keeping time: Duration) {
        let hash = Digest.sha256(Array(vaultPath.utf8) + [0] + salt)
        description = "martlet:vault:\(Hexadecimal.encode(Array(hash.prefix(16))))"
        seconds = UInt32(clamping: max(time.components.seconds, 1))
    }

    /// Keeps the key, if the kernel lets us.
    func store(_ key: SecretBytes) {
        // It gets its limits in the thread's own keyring, and is linked where others find it only then.
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

    /// The key, if it was kept and its time has not come.
    func load() -> SecretBytes? {
        for ring in Self.rings {
            guard let serial = find(in: ring) else { continue }
            defer { authvault_key_unlink(serial, Self.thread) }
            var bytes = [UInt8](repeating: 0, count: VaultKey.size)
            defer { bytes.wipe() }
            // The answer is the size of what is kept, which may be more than what was read.
            let size = unsafe authvault_key_read(serial, &bytes, Int32(bytes.count))
            if size == VaultKey.size { return SecretBytes(copying: bytes.span) }
        }
        return nil
    }

    /// Takes the key out of the kernel at once.
    func forget() {
        for ring in Self.rings {
            guard let serial = find(in: ring) else { continue }
            authvault_key_invalidate(serial)
        }
    }

    /// Finds the key and links it to this thread, because only who possesses a key may read it.
    private func find(in ring: Int32) -> Int32? {
        let serial = unsafe authvault_key_search(ring, description, Self.thread)
        return serial > 0 ? serial : nil
    }

    private static let thread = Int32(AUTHVAULT_THREAD_RING)

    /// Where to look and to link, the best place first; by these names, unlike by serial number, they count as possessed.
    private static var rings: [Int32] {
        let (session, user) = (Int32(AUTHVAULT_SESSION_RING), Int32(AUTHVAULT_USER_RING))
        let serial = authvault_ring(session)
        let isOfLogin = serial > 0 && serial != authvault_ring(Int32(AUTHVAULT_USER_SESSION_RING))
        return isOfLogin ? [session, user] : [user]
    }
}
