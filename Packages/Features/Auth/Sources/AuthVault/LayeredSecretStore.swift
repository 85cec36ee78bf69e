public import Capabilities
import FileKit

/// Looks up secrets in the environment first, then in systemd's credentials, then in the store.
///
/// The first two are never written. When they have a secret, the store is not even unlocked.
public final class LayeredSecretStore: SecretStore {
    /// The store that secrets are written to.
    public let kept: any KeptSecrets
    private let environment: EnvironmentSecretStore
    private let credentials: CredentialsDirectory?
    private let notice: @Sendable (String) async -> Void

    /// - Parameters:
    ///   - environment: the program's variables; one of them names the folder of systemd's credentials.
    ///   - notice: shows the user that another source hides a secret that was stored or removed.
    public init(
        environment: [String: String], over kept: any KeptSecrets,
        notice: @escaping @Sendable (String) async -> Void
    ) {
        self.environment = EnvironmentSecretStore { environment }
        credentials = CredentialsDirectory(environment: environment)
        self.kept = kept
        self.notice = notice
    }

    public func secret(named name: SecretName) async throws -> Secret? {
        if let secret = try await given(name)?.secret { return secret }
        return try await kept.secret(named: name)
    }

    /// Stores the secret. The user gets a notice if another source overrides it.
    public func store(_ secret: Secret, named name: SecretName) async throws {
        try await kept.store(secret, named: name)
        if let source = try await given(name)?.source {
            await notice("'\(name)' was stored, but \(source.words) overrides it")
        }
    }

    /// Removes the stored secret. The user gets a notice if another source still has one.
    public func remove(named name: SecretName) async throws {
        try await kept.remove(named: name)
        if let source = try await given(name)?.source {
            await notice("'\(name)' was removed, but \(source.words) is still used")
        }
    }

    public func names() async throws -> [SecretName] {
        try await listing().map(\.name)
    }

    public func isReady() async -> Bool { await kept.isReady() }

    /// The source of a secret, or nil when there is none.
    public func source(of name: SecretName) async throws -> SecretSource? {
        if let source = try await given(name)?.source { return source }
        return try await kept.names().contains(name) ? kept.source : nil
    }

    /// All secrets with their sources, sorted by name.
    public func listing() async throws -> [SecretListing] {
        var listing: [SecretListing] = []
        var seen: Set<SecretName> = []
        for entry in try await kept.entries() {
            let above = try await given(entry.name)?.source
            seen.insert(entry.name)
            listing.append(
                SecretListing(
                    name: entry.name, source: above ?? kept.source, changed: entry.changed, isShadowing: above != nil))
        }
        // Several secret names can share one variable name, because hyphens and dots look the same there. A variable
        // for a name that is already listed is not listed again.
        let variables = Set(seen.map(\.environmentVariable))
        let further = await environment.names().filter { !variables.contains($0.environmentVariable) }
        for name in further + (try credentials?.names() ?? []) where seen.insert(name).inserted {
            guard let source = try await given(name)?.source else { continue }
            listing.append(SecretListing(name: name, source: source, changed: nil, isShadowing: false))
        }
        return listing.sorted { $0.name.text < $1.name.text }
    }

    /// The secrets whose names are known without a question, for what a person is offered while typing: those of the
    /// environment, and those of a vault that is not locked.
    public func offered() -> [SecretListing] {
        let inVault = (kept as? Vault)?.offeredNames() ?? []
        let variables = Set(inVault.map(\.environmentVariable))
        let further = environment.known.filter { !variables.contains($0.environmentVariable) }
        return inVault.map { SecretListing(name: $0, source: kept.source, changed: nil, isShadowing: false) }
            + further.map {
                SecretListing(
                    name: $0, source: .environment(variable: $0.environmentVariable), changed: nil, isShadowing: false)
            }
    }

    private func given(_ name: SecretName) async throws -> (secret: Secret, source: SecretSource)? {
        if let secret = await environment.secret(named: name) {
            return (secret, .environment(variable: name.environmentVariable))
        }
        return try credentials?.secret(named: name).map { ($0, .systemd) }
    }
}

/// The credentials that systemd passes to a service as files, one per name. They are read-only.
struct CredentialsDirectory: Sendable {
    let path: String

    /// Nil when systemd did not start the program with credentials.
    init?(environment: [String: String]) {
        guard let path = environment["CREDENTIALS_DIRECTORY"], AbsolutePath.isAbsolute(path) else { return nil }
        self.path = path
    }

    func secret(named name: SecretName) throws -> Secret? {
        guard SecretRules.isName(name.text) else { return nil }
        let file = "\(path)/\(name)"
        do {
            var bytes = try Files.read(file, limit: SecretRules.largestSecret + 1)
            defer { bytes.wipe() }
            // Files edited by hand end in a line break, which is not part of a key.
            let text = String(
                validating: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self)
            guard let text else {
                throw VaultError(
                    .size, "the credential \(file) is not valid UTF-8 text; correct the service's credentials")
            }
            return text.isEmpty ? nil : Secret(text)
        } catch let error as FileError where error.kind == .notFound {
            return nil
        }
    }

    func names() throws -> [SecretName] {
        guard Files.exists(path) else { return [] }
        return try Files.list(path).filter { $0.kind != .directory }.map(\.name).filter(SecretRules.isName).map {
            SecretName($0)
        }
    }
}

/// An entry in the list of secrets, without the secret itself.
public struct SecretListing: Sendable, Hashable {
    /// The name of the secret. Of a variable without a stored secret, it is derived from the variable's name.
    public let name: SecretName
    /// The source that is used for the secret.
    public let source: SecretSource
    /// When the stored secret was last changed, if known.
    public let changed: Timestamp?
    /// Whether the source hides a stored secret.
    public let isShadowing: Bool
}
