import ProcessKit

/// Names that people give to secrets: of variables, headers and fields of forms.
public enum SecretNames {
    /// Parts of names of values that nobody should type into the form of a server, or send without being asked.
    private static let parts = [
        "password", "passwd", "passphrase", "secret", "token", "apikey", "api_key", "api-key", "api key", "credential",
        "private_key", "private key", "privatekey", "access_key", "access key", "authorization", "cookie", "pin code",
        "one-time code", "card number", "social security", "mnemonic", "seed phrase",
    ]
    /// Whole words that are too short to be looked for within others.
    private static let words: Set<Substring> = ["otp", "cvv", "iban", "ssn", "pin", "key"]

    /// Whether a value of this name, or described so, probably is a secret. Rather one too many than one too few.
    public static func isSecret(_ name: String) -> Bool {
        if CommandEnvironment.isSecret(name) || isShortSecret(name) { return true }
        // Models count in tokens, which are not secrets.
        let name = name.lowercased().replacing("tokens", with: "")
        return parts.contains { name.contains($0) } || name.hasSuffix("_key")
    }

    /// Names alone, since a description may have such a word in any sentence: `a key of the table`.
    private static func isShortSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        let pieces = name.split { !$0.isLetter && !$0.isNumber }
        if pieces.count == 1 { return words.contains(pieces[0]) }
        return pieces.contains { words.subtracting(["key", "pin"]).contains($0) }
    }
}
