import ProcessKit

/// Names that people give to secrets: of variables, headers and fields of forms.
public enum SecretNames {
    /// Parts of names of values that nobody should type into the form of a server, or send without being asked.
    private static let words = [
        "password", "passwd", "passphrase", "secret", "token", "apikey", "api_key", "api-key", "api key", "credential",
        "private_key", "private key", "privatekey", "access_key", "access key", "authorization", "cookie", "pin code",
        "one-time code", "otp", "cvv", "card number", "iban", "ssn", "social security", "mnemonic", "seed phrase",
    ]

    /// Whether a value of this name, or described so, probably is a secret. Rather one too many than one too few.
    public static func isSecret(_ name: String) -> Bool {
        if CommandEnvironment.isSecret(name) { return true }
        // Models count in tokens, which are no secrets.
        let name = name.lowercased().replacing("tokens", with: "")
        return words.contains { name.contains($0) } || name.hasSuffix("_key") || name == "key" || name == "pin"
    }
}
