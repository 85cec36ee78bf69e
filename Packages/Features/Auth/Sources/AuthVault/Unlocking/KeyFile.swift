import Capabilities
import Cryptography
import FileKit
import Glibc

/// A file of 32 random bytes that opens a vault without a passphrase. Only its owner can read it.
enum KeyFile {
    /// Reads the key. Nil when the file does not exist.
    ///
    /// The open file is checked, so that it cannot be replaced after the check.
    static func read(_ path: String) throws -> SecretBytes? {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else {
            if errno == ENOENT { return nil }
            throw VaultError(.keyFile, "cannot open the key file \(path): \(SystemError(errno))")
        }
        let file = FileDescriptor(owning: number, path: path)
        var status = stat()
        guard unsafe fstat(file.rawValue, &status) == 0 else {
            throw VaultError(.keyFile, "cannot inspect the key file \(path): \(SystemError(errno))")
        }
        try check(status, path)
        var bytes = try file.read(upTo: VaultKey.size + 1)
        defer { bytes.wipe() }
        guard bytes.count == VaultKey.size else {
            throw VaultError(
                .keyFile, "the key file \(path) does not have \(VaultKey.size) bytes; restore it from a backup")
        }
        return SecretBytes(copying: bytes.span)
    }

    /// Creates a new key file. It is on the disk when this returns.
    static func make(_ path: String) throws -> SecretBytes {
        let key = try Random.secret(VaultKey.size)
        try Files.makeDirectories(PathParts(path).folder)
        var bytes = key.withBytes { key in key.indices.map { key[$0] } }
        defer { bytes.wipe() }
        try Files.writeAtomically(bytes, to: path, mode: 0o600)
        return key
    }

    private static func check(_ status: stat, _ path: String) throws(VaultError) {
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw VaultError(.keyFile, "the key file \(path) is not a regular file; put the vault's key file there")
        }
        guard status.st_uid == geteuid() else {
            throw VaultError(
                .keyFile,
                "the key file \(path) belongs to user \(status.st_uid), not to you; run 'chown \(geteuid()) \(path)'")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw VaultError(
                .keyFile,
                "other users can access the key file \(path), so it is rejected; run 'chmod 600 \(path)', and if they "
                    + "may have read it, change the key with 'martlet auth secret passphrase'")
        }
    }
}
