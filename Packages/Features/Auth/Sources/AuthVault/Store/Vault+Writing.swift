public import Capabilities
import Cryptography
import FileKit
import LoopKit

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
