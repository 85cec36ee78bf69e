import Cryptography

/// A fingerprint as people read, copy and type it.
public enum Fingerprint {
    /// `AB:CD:…`, as browsers and the openssl program show it.
    public static func text(_ bytes: [UInt8]) -> String {
        Hexadecimal.encode(bytes, separator: ":", uppercase: true)
    }

    /// Reads 32 bytes in hexadecimal, with or without colons, blanks and a leading `sha256:`; nil for anything else.
    public static func bytes(_ text: String) -> [UInt8]? {
        var rest = text.lowercased()[...]
        for prefix in ["sha256 fingerprint=", "sha-256:", "sha256:", "sha256="] where rest.hasPrefix(prefix) {
            rest = rest.dropFirst(prefix.count)
            break
        }
        guard let bytes = Hexadecimal.decode(String(rest.filter { $0 != ":" && $0 != " " })), bytes.count == 32 else {
            return nil
        }
        return bytes
    }
}
