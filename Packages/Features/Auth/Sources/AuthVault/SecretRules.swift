import Capabilities

/// The limits for the names and sizes of secrets.
enum SecretRules {
    static let largestSecret = 64 << 10
    static let mostSecrets = 10_000
    static let largestFile = 16 << 20
    private static let longestName = 128

    /// Secret names are also used as names of lock files and credential files, so they start with a letter or digit.
    static func isName(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count <= longestName, let first = bytes.first, isWordByte(first) else { return false }
        return bytes.allSatisfy {
            isWordByte($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
        }
    }

    static func check(_ name: SecretName) throws(VaultError) {
        guard isName(name.text) else {
            throw VaultError(
                .name,
                "'\(PlainText.escape(String(name.text.prefix(longestName))))' is not a valid secret name; use 1 to "
                    + "\(longestName) of a-z, 0-9, '.', '_' and '-', starting with a letter or digit")
        }
    }

    static func check(_ secret: Secret, for name: SecretName) throws(VaultError) {
        guard !secret.isEmpty else {
            throw VaultError(.size, "the secret '\(name)' is empty; to delete it, use 'martlet auth secret remove'")
        }
        guard secret.withText({ $0.utf8.count }) <= largestSecret else {
            throw VaultError(.size, "the secret '\(name)' is larger than 64 KiB, which is the limit for one secret")
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
