public import Capabilities
import Cryptography
import FileKit
import Glibc
import LoopKit
import Synchronization

/// Secrets in one encrypted file, which many tasks and programs may use at the same time.
///
///     let vault = Vault(VaultSetup(folder: data, keyFile: config + "/vault.key", passphrase: sources, notice: tell))
///     try await vault.store(Secret("sk-…"), named: "openai")
///     let key = try await vault.secret(named: "openai")
///
/// Creating a vault opens and asks nothing. The file is read each time, so changes by other programs are seen; only the
/// key stays in memory. A write replaces the whole file under a lock, so a crash leaves either the old or the new file.
public final class Vault: KeptSecrets {
    let setup: VaultSetup
    /// The file with the secrets.
    public let path: String
    let unlocked: UnlockedKey
    /// Lets only one task write at a time.
    private let writing = Turn()
    /// How often to retry when another program changes the key meanwhile.
    static let attempts = 5

    /// - Parameter unlocked: the key, if another vault of this program has already opened the same file.
    public init(_ setup: VaultSetup, unlocked: UnlockedKey = UnlockedKey()) {
        self.setup = setup
        self.unlocked = unlocked
        path = "\(setup.folder)/vault"
    }

    public var source: SecretSource { .vault }

    /// How the vault is protected. This never asks for a passphrase.
    public func status() throws -> VaultStatus {
        guard let file = try load() else { return VaultStatus(path: path, form: .none, isOpen: true) }
        switch file.header.form {
        case .keyFile: return VaultStatus(path: path, form: .keyFile, isOpen: true)
        case .passphrase:
            let isOpen = try remembered(file.header) != nil || kept(file.header) != nil
            return VaultStatus(path: path, form: .passphrase, isOpen: isOpen)
        }
    }

    /// A mark that changes whenever the file does, even when another program replaced or removed it. It costs one
    /// system call.
    public func mark() throws -> String {
        try Files.mark(path)?.text ?? ""
    }

    /// Checks that the vault can be opened, as far as that is possible without asking for a passphrase.
    public func checkKeyFile() throws {
        guard let file = try load(), file.header.form == .keyFile else { return }
        _ = try fromKeyFile(file.header)
    }

    /// Makes sure that the secrets can be read. Asks for the passphrase if needed.
    ///
    /// - Throws: `VaultError`, such as `.wrongPassphrase` or `.unanswered`, or the error of the question.
    public func unlock() async throws {
        _ = try await opened()
    }

    /// Removes the key from memory and from the kernel's keyring. The next use needs the passphrase again.
    public func lock() throws {
        unlocked.key.withLock { $0 = nil }
        if let file = try load() { cache(for: file.header.salt)?.forget() }
    }
}

// MARK: SecretStore

extension Vault {
    /// The secret, or nil when there is none. Without a vault, this asks nothing.
    public func secret(named name: SecretName) async throws -> Secret? {
        try SecretRules.check(name)
        guard let content = try await opened() else { return nil }
        return try VaultContent.secret(named: name, in: content, path: path)
    }

    /// Stores a secret. The first one creates the vault. It is on the disk when this returns.
    public func store(_ secret: Secret, named name: SecretName) async throws {
        try await storeAll([(name, secret)])
    }

    /// Stores several secrets in one step: all of them, or none if this throws.
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

    /// False while there is no vault, because the first secret would make one, with or without a passphrase.
    public func isReady() async -> Bool {
        // A vault that cannot be read is reported by what needs a secret.
        do {
            let status = try status()
            return status.form != .none && status.isOpen
        } catch {
            return false
        }
    }

    /// The names, if the vault opens without asking for a passphrase; otherwise none. For what a person is offered while
    /// typing, so errors are left to the commands.
    func offeredNames() -> [SecretName] {
        do {
            guard let file = try load() else { return [] }
            let key: VaultKey? =
                switch file.header.form {
                case .keyFile: try fromKeyFile(file.header)
                case .passphrase: try remembered(file.header) ?? kept(file.header)
                }
            guard let key else { return [] }
            return try VaultContent.entries(in: file.open(key), path: path).map(\.name)
        } catch {
            return []
        }
    }

    public func entries() async throws -> [SecretEntry] {
        guard let content = try await opened() else { return [] }
        return try VaultContent.entries(in: content, path: path)
    }
}

// MARK: Reading

extension Vault {
    /// The current file, or nil when there is none.
    func load() throws -> VaultFile? {
        do {
            return try VaultFile(parsing: Files.read(path, limit: SecretRules.largestFile), path: path)
        } catch let error as FileError where error.kind == .notFound {
            return nil
        }
    }

    /// The secrets, unlocked if necessary. Nil when there is no vault.
    func opened() async throws -> SecretBytes? {
        guard let (file, opener) = try await current() else { return nil }
        return try file.open(opener.key)
    }

    /// The current file and its key, unlocked if necessary. Nil when there is no vault.
    func current() async throws -> (file: VaultFile, opener: Opener)? {
        var attempt = 0
        while let file = try load() {
            attempt += 1
            do {
                return (file, Opener(header: file.header, key: try await key(for: file.header)))
            } catch {
                // Another program may have changed the key while this one was getting the old key.
                if try attempt == Self.attempts || load()?.header == file.header { throw error }
            }
        }
        return nil
    }

    /// A header and the key that fits it.
    struct Opener: Sendable {
        let header: VaultHeader
        let key: VaultKey
    }
}

/// The key of an unlocked vault, kept only in memory. It is tried before the user is asked.
public final class UnlockedKey: Sendable {
    let key = Mutex<VaultKey?>(nil)
    /// Lets only one task ask for the passphrase at a time.
    let opening = Turn()

    /// No key yet, as for a vault that is still locked.
    public init() {}
}

extension Vault {
    /// The key of the vault with this header: from memory, from the kernel, from the passphrase sources, or from the
    /// user.
    func key(for header: VaultHeader) async throws -> VaultKey {
        if let key = try remembered(header) { return key }
        try await unlocked.opening.take()
        defer { unlocked.opening.pass() }
        if let key = try remembered(header) { return key }
        let found = try await Tracer.current.span("vault.unlock", of: "auth") { span in
            try await find(header, span)
        }
        unlocked.key.withLock { $0 = found }
        return found
    }

    func remembered(_ header: VaultHeader) throws -> VaultKey? {
        guard let key = unlocked.key.withLock({ $0 }), try key.fits(header) else { return nil }
        return key
    }

    /// The key from the kernel's keyring.
    func kept(_ header: VaultHeader) throws -> VaultKey? {
        guard let bytes = cache(for: header.salt)?.load() else { return nil }
        let key = VaultKey(bytes: bytes, salt: header.salt)
        return try key.fits(header) ? key : nil
    }

    func cache(for salt: [UInt8]) -> KeyringCache? {
        setup.keepUnlocked.map { KeyringCache(vaultPath: path, salt: salt, keeping: $0) }
    }

    /// Derives the key from a passphrase on its own thread, because this takes long.
    func derive(_ passphrase: Secret, salt: [UInt8], _ scrypt: Scrypt) async throws -> VaultKey {
        try await onOwnThread {
            Result { try VaultKey(passphrase: SecretBytes(passphrase), salt: salt, scrypt: scrypt) }
        }.get()
    }

    private func find(_ header: VaultHeader, _ span: ActiveSpan) async throws -> VaultKey {
        switch header.form {
        case .keyFile:
            span.set(.decision, "key file")
            return try fromKeyFile(header)
        case .passphrase(let scrypt):
            if let key = try kept(header) {
                span.set(.decision, "kept key")
                return key
            }
            span.set(.decision, "passphrase")
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
                .wrongPassphrase, "the passphrase \(origin) does not open the vault \(path); use the right one")
        }
        for attempt in 1...3 {
            guard let passphrase = try await setup.passphrase.ask(.unlock(attempt: attempt)) else {
                throw VaultError(
                    .unanswered,
                    "the vault \(path) needs its passphrase, but nobody is there to give it; run this on a "
                        + "terminal, or set \(PassphraseSources.variable)")
            }
            let key = try await derive(passphrase, salt: header.salt, scrypt)
            if try key.fits(header) { return key }
        }
        throw VaultError(.wrongPassphrase, "three wrong passphrases for the vault \(path); try again")
    }
}

extension Vault {
    /// Runs async work while no other task or program runs work under the same name, so that a rotating token is
    /// refreshed only once. Secrets can still be read and stored.
    ///
    /// - Throws: `VaultError.Kind.busy` when the name was not free within the limit, or the error of `body`.
    public nonisolated(nonsending) func withLock<Result>(
        named name: SecretName, within limit: Duration = .seconds(60),
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        try SecretRules.check(name)
        let folder = "\(setup.folder)/locks"
        try Files.makeDirectories(folder)
        let lock = try await acquire("\(folder)/\(name)", within: limit, "'\(name)'")
        let result = try await body()
        lock.release()
        return result
    }

    nonisolated(nonsending) func acquire(
        _ path: String, within limit: Duration, _ what: String
    ) async throws -> FileLock {
        do {
            return try await FileLock.acquire(path, within: limit)
        } catch let error as FileError where error.kind == .busy {
            throw VaultError(
                .busy, "another program has held \(what) for \(limit.components.seconds) seconds; try again later")
        }
    }
}

extension Vault {
    /// Changes the key of the vault: to a new passphrase, or to a key file.
    ///
    /// This needs the current key. If the program is killed at any moment, the vault opens with the old key or the new
    /// one.
    public func changeKey(to new: VaultNewKey) async throws {
        for _ in 0..<Self.attempts {
            let current = try await current()?.opener
            let plan = try await plan(new)
            if try await replaceKey(current, by: plan) {
                if let current { cache(for: current.header.salt)?.forget() }
                return
            }
        }
        throw VaultError(.busy, "another program keeps changing the key of the vault \(path); try again later")
    }

    /// Creates the vault with its first secrets. Nil when another program was faster.
    func create(_ edit: VaultEdit) async throws -> VaultContent? {
        // Two tasks that store the first secret ask only once: the second finds the vault.
        try await unlocked.opening.take()
        defer { unlocked.opening.pass() }
        guard try load() == nil else { return nil }
        let plan = try await firstPlan()
        let made = try await whileLocked { () throws -> (VaultContent, Opener)? in
            guard try self.load() == nil, let content = try edit.applied(to: VaultContent()) else { return nil }
            let opener = try self.opener(plan)
            try self.save(content, opener)
            return (content, opener)
        }
        guard let (content, opener) = made else { return nil }
        await adopt(opener)
        return content
    }

    /// How to make the next key. A key file is created only under the lock, so that two programs do not create two.
    private enum Plan: Sendable {
        case passphrase(Opener)
        case keyFile
    }

    private func firstPlan() async throws -> Plan {
        if let (passphrase, _) = try await setup.passphrase.given() { return try await plan(passphrase) }
        guard let passphrase = try await setup.passphrase.askNew(), !passphrase.isEmpty else { return .keyFile }
        return try await plan(passphrase)
    }

    private func plan(_ new: VaultNewKey) async throws -> Plan {
        switch new {
        case .keyFile: return .keyFile
        case .passphrase(let passphrase):
            guard !passphrase.isEmpty else {
                throw VaultError(.passphrase, "the new passphrase is empty; enter a passphrase")
            }
            return try await plan(passphrase)
        case .ask:
            guard let passphrase = try await setup.passphrase.askNew() else {
                throw VaultError(
                    .unanswered,
                    "a new passphrase is needed, but nobody is there to give it; run this on a terminal")
            }
            return passphrase.isEmpty ? .keyFile : try await plan(passphrase)
        }
    }

    private func plan(_ passphrase: Secret) async throws -> Plan {
        let key = try await derive(passphrase, salt: Random.bytes(VaultHeader.saltSize), setup.scrypt)
        return .passphrase(Opener(header: try VaultHeader(.passphrase(setup.scrypt), key: key), key: key))
    }

    /// Call this only under the lock. An existing key file is reused, because it may be the key of a vault that was
    /// moved away.
    private func opener(_ plan: Plan) throws -> Opener {
        switch plan {
        case .passphrase(let opener): return opener
        case .keyFile:
            let secret = try KeyFile.read(setup.keyFile) ?? KeyFile.make(setup.keyFile)
            let key = try VaultKey(keyFile: secret, salt: Random.bytes(VaultHeader.saltSize))
            return Opener(header: try VaultHeader(.keyFile, key: key), key: key)
        }
    }

    /// False when the key to replace is no longer the key of the file.
    private func replaceKey(_ current: Opener?, by plan: Plan) async throws -> Bool {
        let made = try await whileLocked { () throws -> (opener: Opener, leftOver: FileError?)? in
            let file = try self.load()
            guard file?.header == current?.header else { return nil }
            var content = VaultContent()
            if let file, let current { content = try VaultContent(reading: file.open(current.key), path: self.path) }
            let opener = try self.opener(plan)
            try self.save(content, opener)
            return (opener, self.removeKeyFile(of: current?.header, after: opener.header))
        }
        guard let made else { return false }
        await adopt(made.opener)
        if let error = made.leftOver {
            await setup.notice(
                "the key file \(setup.keyFile) is no longer needed, but could not be removed: \(error.message)")
        }
        return true
    }

    /// Call this under the lock and after the vault was saved, because another program may create a key file as soon as
    /// the lock is free.
    private func removeKeyFile(of old: VaultHeader?, after new: VaultHeader) -> FileError? {
        guard old?.form == .keyFile, new.form != .keyFile else { return nil }
        do throws(FileError) {
            try Files.remove(setup.keyFile)
            return nil
        } catch {
            return error
        }
    }

    /// Remembers the new key. Explains once what a key file protects against.
    private func adopt(_ opener: Opener) async {
        unlocked.key.withLock { $0 = opener.key }
        if case .keyFile = opener.header.form {
            await setup.notice(
                "secrets are stored in \(path) and open with the key file \(setup.keyFile): this protects backups that "
                    + "contain only one of the two, and keeps other users out, but does not protect against someone "
                    + "who can read your files; 'martlet auth secret passphrase' protects them with a passphrase")
        } else {
            cache(for: opener.header.salt)?.store(opener.key.bytes)
        }
    }
}

extension Vault {
    /// Changes one secret while no other task or program can write.
    ///
    /// `decide` may run again when another program writes in between. The last result counts.
    ///
    /// - Returns: The secret afterwards.
    @discardableResult
    public func update(
        named name: SecretName, _ decide: @escaping @Sendable (Secret?) throws -> VaultChange
    ) async throws -> Secret? {
        try SecretRules.check(name)
        return try await rewrite(.decide(name, decide, setup.now()))[name]
    }

    /// Reads, changes and replaces the file under the lock.
    ///
    /// The user is never asked anything while the lock is held.
    @discardableResult
    func rewrite(_ edit: VaultEdit) async throws -> VaultContent {
        for _ in 0..<Self.attempts {
            let current = try await current()?.opener
            let content: VaultContent?
            if let current {
                content = try await whileLocked { try self.change(current, edit) }
            } else {
                // Without a vault and without a secret to store, no vault is created and the user is not asked.
                guard try edit.applied(to: VaultContent()) != nil else { return VaultContent() }
                content = try await create(edit)
            }
            if let content { return content }
        }
        throw VaultError(.busy, "another program keeps changing the key of the vault \(path); try again later")
    }

    /// Runs blocking work on its own thread while this task holds the lock between programs.
    func whileLocked<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await writing.take()
        defer { writing.pass() }
        try Files.makeDirectories(setup.folder)
        let lock = try await acquire("\(path).lock", within: setup.patience, "the vault \(path)")
        let result = try await onOwnThread { Result { try body() } }
        lock.release()
        return try result.get()
    }

    /// Replaces the file.
    func save(_ content: VaultContent, _ opener: Opener) throws {
        var body = content.encoded()
        defer { body.wipe() }
        let bytes = try VaultFile.seal(body.span, header: opener.header, key: opener.key)
        guard bytes.count <= SecretRules.largestFile else {
            throw VaultError(
                .size, "the vault would be larger than the limit of 16 MiB; remove secrets that you do not need")
        }
        try Files.writeAtomically(bytes, to: path, mode: 0o600)
    }

    /// Nil when the key is no longer the key of the file.
    private func change(_ opener: Opener, _ edit: VaultEdit) throws -> VaultContent? {
        guard let file = try load(), file.header == opener.header else { return nil }
        let before = try VaultContent(reading: file.open(opener.key), path: path)
        guard let content = try edit.applied(to: before) else { return before }
        try save(content, opener)
        return content
    }
}
