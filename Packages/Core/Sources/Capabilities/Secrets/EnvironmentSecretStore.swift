/// The secrets that stand in the environment. Nothing is ever written there.
public final class EnvironmentSecretStore: SecretStore {
    private let environment: @Sendable () -> [String: String]

    /// - Parameter environment: asked only when a secret is wanted.
    public init(environment: @escaping @Sendable () -> [String: String]) {
        self.environment = environment
    }

    public func secret(named name: SecretName) async -> Secret? {
        environment()[name.environmentVariable].flatMap { $0.isEmpty ? nil : Secret($0) }
    }

    public func store(_ secret: Secret, named name: SecretName) async throws {
        throw SecretStoreError.readOnly(name)
    }

    public func remove(named name: SecretName) async throws {
        throw SecretStoreError.readOnly(name)
    }

    public func names() async -> [SecretName] {
        environment().filter { $0.key.hasSuffix("_API_KEY") && $0.key != "_API_KEY" && !$0.value.isEmpty }.keys.sorted()
            .compactMap { variable in
                let name = SecretName(variable.dropLast("_API_KEY".count).lowercased())
                // `CI_TOKEN_API_KEY` is the variable of no name: `ci_token` is looked for as `CI_TOKEN`.
                return name.environmentVariable == variable ? name : nil
            }
    }
}

/// Why a secret could not be kept.
public enum SecretStoreError: Failure {
    case readOnly(SecretName)

    public var code: String { "secrets.read-only" }
    public var exit: ExitCode { .denied }
    public var message: String {
        switch self {
        case .readOnly(let name):
            "the secret '\(name)' cannot be kept: only the environment is available for secrets; "
                + "set \(name.environmentVariable) there, or build with the feature Auth"
        }
    }
}
