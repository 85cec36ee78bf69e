import Capabilities

/// What a secret may be called and how large it may be.
enum SecretRules {
    static let largestSecret = 64 << 10
    static let mostSecrets = 10_000
    static let largestFile = 16 << 20
    private static let longestName = 128

    /// Names are also the names of lock files and credential files, so they begin with a letter or digit.
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
                "no secret can be called '\(PlainText.escape(String(name.text.prefix(longestName))))': use 1 to "
                    + "\(longestName) of a-z, 0-9, '.', '_' and '-', a letter or digit first")
        }
    }

    static func check(_ secret: Secret, for name: SecretName) throws(VaultError) {
        guard !secret.isEmpty else {
            throw VaultError(.size, "the secret '\(name)' is empty; remove it if it is no longer wanted")
        }
        guard secret.withText({ $0.utf8.count }) <= largestSecret else {
            throw VaultError(.size, "the secret '\(name)' is larger than 64 KiB, which is the limit for one secret")
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
