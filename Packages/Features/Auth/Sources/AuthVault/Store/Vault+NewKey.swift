import Capabilities
import Cryptography
import FileKit
import LoopKit
import Synchronization

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
