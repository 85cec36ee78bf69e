import Capabilities
import Glibc

/// The ways in which a secret may turn up somewhere.
enum SecretForms {
    /// It as it is, and in the usual encodings.
    static func all(of secret: String) -> [String] {
        let bytes = Array(secret.utf8)
        var percent = ""
        for byte in bytes {
            let isPlain = (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            percent += isPlain || [45, 46, 95, 126].contains(byte) ? String(Unicode.Scalar(byte)) : hex(byte)
        }
        return [
            secret, percent, percent.replacing("%20", with: "+"), Base64.encode(bytes), Base64URL.encode(bytes),
            // Inside of a longer text its place among the groups of three differs.
            String(Base64.encode([0] + bytes).dropFirst(4).dropLast(4)),
            String(Base64.encode([0, 0] + bytes).dropFirst(4).dropLast(4)),
        ]
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }
}

extension [UInt8] {
    /// Whether these bytes stand in it somewhere. With the functions of C, as whole databases are searched.
    func contains(_ pattern: [UInt8]) -> Bool {
        guard let first = pattern.first, pattern.count <= count else { return false }
        return unsafe withUnsafeBytes { all in
            unsafe pattern.withUnsafeBytes { pattern in
                guard var place = all.baseAddress, let wanted = pattern.baseAddress else { return false }
                let end = unsafe place + (all.count - pattern.count + 1)
                while unsafe place < end, let found = unsafe memchr(place, Int32(first), end - place) {
                    if unsafe memcmp(found, wanted, pattern.count) == 0 { return true }
                    unsafe place = UnsafeRawPointer(found) + 1
                }
                return false
            }
        }
    }
}
