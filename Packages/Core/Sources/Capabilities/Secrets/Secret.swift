public import JSON

/// A text that must never be shown: it prints as `‹redacted›`, has no members to reflect on and cannot be encoded.
///
/// It is an `InputValue` but not an `OutputValue`, so that no action can return one.
public struct Secret: Sendable, InputValue, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let text: String

    /// Hides a text. Give it to `Redactor.learn` too, so that logs and messages do not contain it.
    public init(_ text: String) {
        self.text = text
    }

    public static var schema: Schema { .secret }

    public init(json: JSON) throws(ValueError) {
        guard let text = json.string else { throw ValueError("needs text, not \(json.kindName)") }
        self.init(text)
    }

    /// Passes the text to the code that sends or stores it.
    public func withText<Result, Failure: Error>(_ body: (String) throws(Failure) -> Result) throws(Failure) -> Result {
        try body(text)
    }

    /// Whether the text is empty.
    public var isEmpty: Bool { text.isEmpty }

    public var description: String { "‹redacted›" }
    public var debugDescription: String { "‹redacted›" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Compares without stopping at the first difference, so that the time reveals nothing about the text.
    public func equals(_ other: Secret) -> Bool {
        let left = Array(text.utf8)
        let right = Array(other.text.utf8)
        var difference = left.count ^ right.count
        for index in left.indices {
            difference |= Int(left[index] ^ (index < right.count ? right[index] : 0))
        }
        return difference == 0
    }
}

/// Stores secrets by name. Auth's vault is one; the environment is the built-in, read-only one.
public protocol SecretStore: AnyObject, Sendable {
    /// The secret with that name, or nil if there is none.
    func secret(named name: SecretName) async throws -> Secret?
    /// Stores a secret under a name and replaces an existing one.
    func store(_ secret: Secret, named name: SecretName) async throws
    /// Removes a secret. It is not an error if it does not exist.
    func remove(named name: SecretName) async throws
    /// The stored names, never the secrets.
    func names() async throws -> [SecretName]
    /// Whether a secret can be stored now without a question, and without making a vault that nobody asked for.
    func isReady() async -> Bool
}

extension SecretStore {
    /// By default it always can.
    public func isReady() async -> Bool { true }
}

/// The name of a secret: a provider's name, or a dotted name such as `kamiwaza.pat`.
public struct SecretName: InputValue, OutputValue, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name itself, for settings, stores and messages.
    public let text: String

    /// Takes any text; the secret need not exist.
    public init(_ text: String) {
        self.text = text
    }

    public init(stringLiteral text: String) {
        self.init(text)
    }

    public static var schema: Schema { .secretName }
    public var json: JSON { .string(text) }

    public init(json: JSON) throws(ValueError) {
        guard let text = json.string, !text.isEmpty else { throw ValueError("needs the name of a secret") }
        self.init(text)
    }

    public var description: String { text }

    /// The conventional environment variable for the secret: `openai` is `OPENAI_API_KEY`. A name that already ends in
    /// what it is gets no suffix: `ci-token` is `CI_TOKEN`.
    public var environmentVariable: String {
        let variable = String(text.map { $0.isLetter || $0.isNumber ? $0 : "_" }).uppercased()
        let isWhole = ["_TOKEN", "_KEY", "_PASSWORD", "_SECRET"].contains { variable.hasSuffix($0) }
        return isWhole ? variable : variable + "_API_KEY"
    }

    /// The environment variable with the address of the server that the key is for: `OPENAI_BASE_URL` beside
    /// `OPENAI_API_KEY`. Only that suffix is replaced: `CI_TOKEN_BASE_URL` is beside `CI_TOKEN`.
    public var addressVariable: String {
        let (variable, suffix) = (environmentVariable, "_API_KEY")
        return (variable.hasSuffix(suffix) ? String(variable.dropLast(suffix.count)) : variable) + "_BASE_URL"
    }
}

/// The secrets in the environment. It never writes there.
public final class EnvironmentSecretStore: SecretStore {
    private let environment: @Sendable () -> [String: String]

    /// - Parameter environment: called only when a secret is needed.
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

    public func names() async -> [SecretName] { known }

    public func isReady() async -> Bool { false }

    /// The names of all secrets in the environment.
    public var known: [SecretName] {
        environment().filter { $0.key.hasSuffix("_API_KEY") && $0.key != "_API_KEY" && !$0.value.isEmpty }.keys.sorted()
            .compactMap { variable in
                let name = SecretName(variable.dropLast("_API_KEY".count).lowercased())
                // `CI_TOKEN_API_KEY` belongs to no name, because `ci_token` uses the variable `CI_TOKEN`.
                return name.environmentVariable == variable ? name : nil
            }
    }
}

/// Why a secret could not be stored.
public enum SecretStoreError: Failure {
    /// The environment is the only store, and it cannot be written.
    case readOnly(SecretName)

    public var code: String { "secrets.read-only" }
    public var exit: ExitCode { .denied }
    public var message: String {
        switch self {
        case .readOnly(let name):
            "cannot store the secret '\(name)': only the environment is available for secrets; "
                + "set \(name.environmentVariable) there, or use a build with the feature Auth switched on"
        }
    }
}
