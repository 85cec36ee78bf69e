public import Capabilities
import FileKit
import Registry
import Synchronization

/// The vault as data that is checked, saved and restored with everything else. Copies stay encrypted.
public final class VaultData: DataStore {
    private let vault: Vault

    public init(vault: Vault) {
        self.vault = vault
    }

    public var id: String { "auth.vault" }
    public var summary: String { "Secrets, encrypted" }
    public var location: String { vault.path }

    /// Looks at the form of the file, and into it where nobody has to be asked for that.
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
            ActionContext.current?.notice(
                "the copy of the vault opens only with its key file \(vault.setup.keyFile), which is not among the copies; "
                    + "keep one of it elsewhere")
        }
    }

    public func verify(_ copy: String) async throws {
        _ = try VaultFile(parsing: Files.read(copy, limit: SecretRules.largestFile), path: copy)
    }

    public func restore(from path: String) async throws {
        try await vault.replace(by: Files.read(path, limit: SecretRules.largestFile), from: path)
    }

    /// The whole file is written anew each time, so nothing in it is unused.
    public func compact() async throws -> ByteCount { ByteCount(0) }
    public func purge() async throws -> PurgedData { PurgedData() }
}

extension Vault {
    /// The file as it is; nil when there is none.
    fileprivate func bytes() throws -> [UInt8]? {
        do {
            return try Files.read(path, limit: SecretRules.largestFile)
        } catch let error where error.kind == .notFound {
            return nil
        }
    }

    /// Puts another vault in the place of this one, after it was found to be one.
    fileprivate func replace(by bytes: [UInt8], from copy: String) async throws {
        _ = try VaultFile(parsing: bytes, path: copy)
        try Files.makeDirectories(setup.folder)
        try await whileLocked { try Files.writeAtomically(bytes, to: self.path, mode: 0o600) }
        unlocked.key.withLock { $0 = nil }
    }
}
