public import Capabilities
import Cryptography
import FileKit
import Glibc
import LoopKit
import Synchronization

/// Secrets in one encrypted file, which many tasks and programs may use at once.
///
///     let vault = Vault(VaultSetup(folder: data, keyFile: config + "/vault.key", passphrase: sources, notice: tell))
///     try await vault.store(Secret("sk-…"), named: "openai")
///     let key = try await vault.secret(named: "openai")
///
/// Making one opens nothing and asks nothing. The file is read anew each time, so what another program stored is seen;
/// in memory stays only the key. A write replaces the whole file under a lock, so a crash leaves the old or the new one.
public final class Vault: KeptSecrets {
    let setup: VaultSetup
    /// The file with the secrets.
    public let path: String
    let unlocked: UnlockedKey
    /// One task at a time writes.
    let writing = Turn()
    /// How often to begin again when another program changes the key meanwhile.
    static let attempts = 5

    /// - Parameter unlocked: the key, where another vault of this program has opened the same file already.
    public init(_ setup: VaultSetup, unlocked: UnlockedKey = UnlockedKey()) {
        self.setup = setup
        self.unlocked = unlocked
        path = "\(setup.folder)/vault"
    }

    public var source: SecretSource { .vault }

    /// How the vault is protected; nobody is asked.
    public func status() throws -> VaultStatus {
        guard let file = try load() else { return VaultStatus(path: path, form: .none, isOpen: true) }
        switch file.header.form {
        case .keyFile: return VaultStatus(path: path, form: .keyFile, isOpen: true)
        case .passphrase:
            let isOpen = try remembered(file.header) != nil || kept(file.header) != nil
            return VaultStatus(path: path, form: .passphrase, isOpen: isOpen)
        }
    }

    /// What changes whenever the file does, also when another program replaced or removed it. It costs one system call.
    public func mark() throws -> String {
        try Files.mark(path)?.text ?? ""
    }

    /// Makes sure that whoever uses the vault can open it, as far as that is known without asking anybody.
    public func checkKeyFile() throws {
        guard let file = try load(), file.header.form == .keyFile else { return }
        _ = try fromKeyFile(file.header)
    }

    /// Makes sure that the secrets can be read, asking for the passphrase where that is needed.
    ///
    /// - Throws: `VaultError`, `.wrongPassphrase` or `.unanswered` among others; or what the question threw.
    public func unlock() async throws {
        _ = try await opened()
    }

    /// Forgets the key, here and in the kernel's keyring; the next use needs the passphrase again.
    public func lock() throws {
        unlocked.key.withLock { $0 = nil }
        if let file = try load() { cache(for: file.header.salt)?.forget() }
    }
}

// MARK: SecretStore

extension Vault {
    /// The secret, or nil when there is none; where there is no vault yet, nobody is asked anything.
    public func secret(named name: SecretName) async throws -> Secret? {
        try SecretRules.check(name)
        guard let content = try await opened() else { return nil }
        return try VaultContent.secret(named: name, in: content, path: path)
    }

    /// Keeps a secret; the first one makes the vault. It is on the disk when this returns.
    public func store(_ secret: Secret, named name: SecretName) async throws {
        try await storeAll([(name, secret)])
    }

    /// Keeps several secrets in one step: all of them or, when this throws, none.
    public func storeAll(_ secrets: [(name: SecretName, secret: Secret)]) async throws {
        for (name, secret) in secrets {
            try SecretRules.check(name)
            try SecretRules.check(secret, for: name)
        }
        guard !secrets.isEmpty else { return }
        try await rewrite(.storeAll(secrets, setup.now()))
    }

    public func remove(named name: SecretName) async throws {
        try await update(named: name) { $0 == nil ? .keep : .remove }
    }

    public func names() async throws -> [SecretName] {
        try await entries().map(\.name)
    }

    public func entries() async throws -> [SecretEntry] {
        guard let content = try await opened() else { return [] }
        return try VaultContent.entries(in: content, path: path)
    }
}

// MARK: Reading

extension Vault {
    /// The file as it is now, or nil when there is none.
    func load() throws -> VaultFile? {
        do {
            return try VaultFile(parsing: Files.read(path, limit: SecretRules.largestFile), path: path)
        } catch let error as FileError where error.kind == .notFound {
            return nil
        }
    }

    /// The secrets, unlocked if need be; nil when there is no vault.
    func opened() async throws -> SecretBytes? {
        guard let (file, opener) = try await current() else { return nil }
        return try file.open(opener.key)
    }

    /// The file as it is now with what opens it, unlocked if need be; nil when there is none.
    func current() async throws -> (file: VaultFile, opener: Opener)? {
        var attempt = 0
        while let file = try load() {
            attempt += 1
            do {
                return (file, Opener(header: file.header, key: try await key(for: file.header)))
            } catch {
                // Another program may have changed the key while this one looked for the old one.
                if try attempt == Self.attempts || load()?.header == file.header { throw error }
            }
        }
        return nil
    }

    /// A header with the key that fits it.
    struct Opener: Sendable {
        let header: VaultHeader
        let key: VaultKey
    }
}

/// The key of a vault that was unlocked, kept in memory and nowhere else. It is tried before anybody is asked.
public final class UnlockedKey: Sendable {
    let key = Mutex<VaultKey?>(nil)
    /// One task at a time asks for the passphrase.
    let opening = Turn()

    public init() {}
}
