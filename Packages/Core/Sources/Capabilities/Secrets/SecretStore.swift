public import JSON

/// Keeps secrets by name. Auth's vault is one; the environment is the built-in, read-only one.
public protocol SecretStore: AnyObject, Sendable {
    /// The secret of that name, or nil when there is none.
    func secret(named name: SecretName) async throws -> Secret?
    /// Keeps a secret under a name, replacing what was there.
    func store(_ secret: Secret, named name: SecretName) async throws
    /// Forgets a secret; forgetting what is not there is no error.
    func remove(named name: SecretName) async throws
    /// The names that are kept, never the secrets.
    func names() async throws -> [SecretName]
}

/// What a secret is called: a provider's name, or a dotted name such as `kamiwaza.pat`.
public struct SecretName: InputValue, OutputValue, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let text: String

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

    /// The environment variable that carries it by custom: `openai` is `OPENAI_API_KEY`, and a name that says itself what
    /// it is stays as it is: `ci-token` is `CI_TOKEN`.
    public var environmentVariable: String {
        let variable = String(text.map { $0.isLetter || $0.isNumber ? $0 : "_" }).uppercased()
        let isWhole = ["_TOKEN", "_KEY", "_PASSWORD", "_SECRET"].contains { variable.hasSuffix($0) }
        return isWhole ? variable : variable + "_API_KEY"
    }
}
