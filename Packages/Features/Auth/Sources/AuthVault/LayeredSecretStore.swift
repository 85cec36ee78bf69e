public import Capabilities
import FileKit

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

/// The credentials that systemd gives to a service as files, one for each name. Nothing is ever written there.
struct CredentialsDirectory: Sendable {
    let path: String

    /// Nil where the program was not started as such a service.
    init?(environment: [String: String]) {
        guard let path = environment["CREDENTIALS_DIRECTORY"], path.hasPrefix("/") else { return nil }
        self.path = path
    }

    func secret(named name: SecretName) throws -> Secret? {
        guard SecretRules.isName(name.text) else { return nil }
        let file = "\(path)/\(name)"
        do {
            var bytes = try Files.read(file, limit: SecretRules.largestSecret + 1)
            defer { bytes.wipe() }
            // Files made by hand end in a line break, which is no part of a key.
            let text = String(
                validating: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self)
            guard let text else {
                throw VaultError(.size, "the credential \(file) is not text in UTF-8; mend the service's credentials")
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

/// One line of the list of secrets; never the secret itself.
public struct SecretListing: Sendable, Hashable {
    public let name: SecretName
    /// Where the secret comes from when it is used.
    public let source: SecretSource
    /// When the kept one was last stored, where that is known.
    public let changed: Timestamp?
    /// Whether one is kept that the source hides.
    public let isShadowing: Bool
}
