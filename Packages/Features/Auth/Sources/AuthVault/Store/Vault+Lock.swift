public import Capabilities
import FileKit

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
