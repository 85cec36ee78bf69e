public import Capabilities

/// Secrets from the environment first, then from systemd, then from where they are kept.
///
/// The first two are never written, and where they have a secret, the store below is not even unlocked.
public final class LayeredSecretStore: SecretStore {
    /// Where secrets are kept.
    public let kept: any KeptSecrets
    private let environment: EnvironmentSecretStore
    private let credentials: CredentialsDirectory?
    private let notice: @Sendable (String) async -> Void

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

    /// Keeps the secret below; the person is told when another will be used nevertheless.
    public func store(_ secret: Secret, named name: SecretName) async throws {
        try await kept.store(secret, named: name)
        if let source = try await given(name)?.source {
            await notice("'\(name)' was stored, but \(source.words) is used as long as it is there")
        }
    }

    /// Forgets the kept secret; the person is told when there is one above that stays.
    public func remove(named name: SecretName) async throws {
        try await kept.remove(named: name)
        if let source = try await given(name)?.source {
            await notice("'\(name)' was removed, but \(source.words) is still used")
        }
    }

    public func names() async throws -> [SecretName] {
        try await listing().map(\.name)
    }

    /// Where the secret of that name comes from, or nil when there is none.
    public func source(of name: SecretName) async throws -> SecretSource? {
        if let source = try await given(name)?.source { return source }
        return try await kept.names().contains(name) ? kept.source : nil
    }

    /// All secrets with where they come from, sorted by name.
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
        // A variable's name does not tell a hyphen from a dot, so it is one of those already listed if it can be.
        let variables = Set(seen.map(\.environmentVariable))
        let further = await environment.names().filter { !variables.contains($0.environmentVariable) }
        for name in further + (try credentials?.names() ?? []) where seen.insert(name).inserted {
            guard let source = try await given(name)?.source else { continue }
            listing.append(SecretListing(name: name, source: source, changed: nil, isShadowing: false))
        }
        return listing.sorted { $0.name.text < $1.name.text }
    }

    private func given(_ name: SecretName) async throws -> (secret: Secret, source: SecretSource)? {
        if let secret = await environment.secret(named: name) {
            return (secret, .environment(variable: name.environmentVariable))
        }
        return try credentials?.secret(named: name).map { ($0, .systemd) }
    }
}

extension SecretSource {
    fileprivate var words: String {
        switch self {
        case .environment(let variable): "the one in the environment (\(variable))"
        case .systemd: "the one that systemd gives"
        case .vault, .desktop: "the kept one"
        }
    }
}
