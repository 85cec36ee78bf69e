public import Capabilities
import FileKit
import Registry
import Synchronization

/// The vault as data to check, back up and restore. Copies stay encrypted.
public final class VaultData: DataStore {
    private let vault: Vault

    /// - Parameter vault: the vault that is checked, copied and replaced.
    public init(vault: Vault) {
        self.vault = vault
    }

    public var id: String { "auth.vault" }
    public var summary: String { "Encrypted secrets" }
    public var location: String { vault.path }

    /// Checks the format of the file. Checks its content only if no passphrase is needed.
    public func check() async throws -> [String] {
        do {
            if try vault.status().isOpen { _ = try await vault.entries() }
            return []
        } catch let error as VaultError {
            return [error.message]
        }
    }

    public func backup(to path: String) async throws {
        guard let bytes = try vault.bytes() else { return }
        try Files.writeAtomically(bytes, to: path, mode: 0o600)
        if try vault.status().form == .keyFile {
            ActionContext.current?.warn(
                "the copy of the vault opens only with its key file \(vault.setup.keyFile), which is not part of the "
                    + "backup; keep a copy of the key file elsewhere")
        }
    }

    public func verify(_ copy: String) async throws {
        _ = try VaultFile(parsing: Files.read(copy, limit: SecretRules.largestFile), path: copy)
    }

    public func restore(from path: String) async throws {
        try await vault.replace(by: Files.read(path, limit: SecretRules.largestFile), from: path)
    }

    /// Every write replaces the whole file, so it has no unused space.
    public func compact() async throws -> ByteCount { ByteCount(0) }
    public func purge() async throws -> PurgedData { PurgedData() }
}

extension Vault {
    /// The raw file, or nil when there is none.
    fileprivate func bytes() throws -> [UInt8]? {
        do {
            return try Files.read(path, limit: SecretRules.largestFile)
        } catch let error where error.kind == .notFound {
            return nil
        }
    }

    /// Replaces this vault with another one, after checking its format.
    fileprivate func replace(by bytes: [UInt8], from copy: String) async throws {
        _ = try VaultFile(parsing: bytes, path: copy)
        try Files.makeDirectories(setup.folder)
        try await whileLocked { try Files.writeAtomically(bytes, to: self.path, mode: 0o600) }
        unlocked.key.withLock { $0 = nil }
    }
}
