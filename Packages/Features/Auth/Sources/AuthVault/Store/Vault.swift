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

extension Vault {
    /// Runs async work while no other task or program runs work under the same name, so that a rotating token is
    /// refreshed once. Secrets can be read and stored meanwhile.
    ///
    /// - Throws: `VaultError.Kind.busy` when the name was not free within the limit; what the body throws.
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
    /// Makes another key necessary from now on: a new passphrase, or a key file instead of one.
    ///
    /// The current key is needed first. Killed at any moment, the vault opens with the old key or with the new one.
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

    /// Makes the vault with its first secrets; nil when another program was faster.
    func create(_ edit: VaultEdit) async throws -> VaultContent? {
        // Two tasks that store a first secret ask once: the second finds the vault.
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

    /// How the next key is made. A key file is made only under the lock, so that two programs do not make two.
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
            guard !passphrase.isEmpty else { throw VaultError(.passphrase, "the new passphrase is empty; give one") }
            return try await plan(passphrase)
        case .ask:
            guard let passphrase = try await setup.passphrase.askNew() else {
                throw VaultError(
                    .unanswered, "a new passphrase is needed and nobody is there to give it; run it on a terminal")
            }
            return passphrase.isEmpty ? .keyFile : try await plan(passphrase)
        }
    }

    private func plan(_ passphrase: Secret) async throws -> Plan {
        let key = try await derive(passphrase, salt: Random.bytes(VaultHeader.saltSize), setup.scrypt)
        return .passphrase(Opener(header: try VaultHeader(.passphrase(setup.scrypt), key: key), key: key))
    }

    /// Only under the lock. A key file that is there already is used: it may be the key of a vault that was moved away.
    private func opener(_ plan: Plan) throws -> Opener {
        switch plan {
        case .passphrase(let opener): return opener
        case .keyFile:
            let secret = try KeyFile.read(setup.keyFile) ?? KeyFile.make(setup.keyFile)
            let key = try VaultKey(keyFile: secret, salt: Random.bytes(VaultHeader.saltSize))
            return Opener(header: try VaultHeader(.keyFile, key: key), key: key)
        }
    }

    /// False when the key that is to be replaced is not that of the file any more.
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
            await setup.notice("the key file \(setup.keyFile) is not needed any more, but stays: \(error.message)")
        }
        return true
    }

    /// Under the lock and after the vault was saved, since another program may make a key file as soon as it is free.
    private func removeKeyFile(of old: VaultHeader?, after new: VaultHeader) -> FileError? {
        guard old?.form == .keyFile, new.form != .keyFile else { return nil }
        do throws(FileError) {
            try Files.remove(setup.keyFile)
            return nil
        } catch {
            return error
        }
    }

    /// Remembers the new key, and says once what a key file is worth.
    private func adopt(_ opener: Opener) async {
        unlocked.key.withLock { $0 = opener.key }
        if case .keyFile = opener.header.form {
            await setup.notice(
                "secrets are kept in \(path) and open with the key file \(setup.keyFile): this protects copies and "
                    + "backups of the one without the other and keeps other users out, but not somebody who can read "
                    + "your files; 'martlet auth secret passphrase' protects them with a passphrase")
        } else {
            cache(for: opener.header.salt)?.store(opener.key.bytes)
        }
    }
}

extension Vault {
    /// Decides about one secret while nobody else can write, in this or another program.
    ///
    /// The decision may be taken anew when another program comes in between; the last one counts.
    ///
    /// - Returns: What the name holds afterwards.
    @discardableResult
    public func update(
        named name: SecretName, _ decide: @escaping @Sendable (Secret?) throws -> VaultChange
    ) async throws -> Secret? {
        try SecretRules.check(name)
        return try await rewrite(.decide(name, decide, setup.now()))[name]
    }

    /// Reads, changes and replaces the file under the lock.
    ///
    /// Nobody is asked for anything while the lock is held.
    @discardableResult
    func rewrite(_ edit: VaultEdit) async throws -> VaultContent {
        for _ in 0..<Self.attempts {
            let current = try await current()?.opener
            let content: VaultContent?
            if let current {
                content = try await whileLocked { try self.change(current, edit) }
            } else {
                // Where there is nothing and nothing is to be kept, no vault is made and nobody asked for a passphrase.
                guard try edit.applied(to: VaultContent()) != nil else { return VaultContent() }
                content = try await create(edit)
            }
            if let content { return content }
        }
        throw VaultError(.busy, "another program keeps changing the key of the vault \(path); try again later")
    }

    /// Runs what blocks on a thread of its own while this task holds the lock between programs.
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
                .size, "the vault would be larger than 16 MiB, which is the limit; remove what is not needed")
        }
        try Files.writeAtomically(bytes, to: path, mode: 0o600)
    }

    /// Nil when the key is not that of the file any more.
    private func change(_ opener: Opener, _ edit: VaultEdit) throws -> VaultContent? {
        guard let file = try load(), file.header == opener.header else { return nil }
        let before = try VaultContent(reading: file.open(opener.key), path: path)
        guard let content = try edit.applied(to: before) else { return before }
        try save(content, opener)
        return content
    }
}
