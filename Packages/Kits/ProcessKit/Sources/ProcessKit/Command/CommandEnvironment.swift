/// The variables of a child process.
public struct CommandEnvironment: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The values by their names.
    public var variables: [String: String]

    /// Exactly these variables.
    public init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// Exactly the variables of the literal; of a name given twice the last counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        variables = Dictionary(elements) { $1 }
    }

    /// The variables of `base` without those that look like secrets, then those of `adding`.
    ///
    /// A name looks like a secret when it is, or ends in `_` and, one of `suffixes`, in any case of letters.
    public static func inheriting(
        _ base: [String: String], removing suffixes: [String] = secretSuffixes, adding: [String: String] = [:]
    ) -> CommandEnvironment {
        let suffixes = suffixes.map { $0.uppercased() }
        let kept = base.filter { !isSecret($0.key, suffixes) }
        return CommandEnvironment(kept.merging(adding) { $1 })
    }

    /// Whether a variable of that name commonly holds a secret.
    public static func isSecret(_ name: String) -> Bool { isSecret(name, secretSuffixes) }

    private static func isSecret(_ name: String, _ suffixes: [String]) -> Bool {
        let name = name.uppercased()
        return suffixes.contains { name == $0 || name.hasSuffix("_\($0)") }
    }

    /// How the names of variables end that commonly hold secrets.
    public static let secretSuffixes = [
        "API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "SECRET_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE",
        "CREDENTIALS",
    ]
}
