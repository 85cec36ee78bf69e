import Capabilities
import Cryptography

/// The name under which files of known hosts have a host.
public struct KnownHostName: Sendable, Hashable, CustomStringConvertible {
    /// `web`, `[web]:2222`, or an alias, in small letters.
    public let description: String
    /// The name without the port, by which ssh also accepts a key. Nil if it is the same, or an alias.
    let portless: String?
    /// Whether a line with it can be added. ssh adds none for a name with a character that has a meaning there.
    let isWritable: Bool

    /// - Parameters:
    ///   - host: the name or address that is connected to (`HostName`).
    ///   - alias: the value of `HostKeyAlias`, which stands for name and port.
    public init(host: String, port: Int = 22, alias: String? = nil) {
        let host = ASCII.lowercased(host)
        if let alias {
            (description, portless) = (ASCII.lowercased(alias), nil)
        } else if port == 22 {
            (description, portless) = (host, nil)
        } else {
            (description, portless) = ("[\(host)]:\(port)", host)
        }
        isWritable = Self.isPlain(host) && Self.isPlain(alias.map { ASCII.lowercased($0) } ?? host)
    }

    /// Without anything that has a meaning in a line. ssh has the same list but for spaces and commas, which it cannot
    /// have in names.
    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"@?*#[]|'\"\\,!".utf8.contains($0) }
    }
}

extension SSHSettings {
    /// The names under which the host's key is known.
    public var knownHostName: KnownHostName {
        KnownHostName(host: hostName, port: port, alias: hostKeyAlias)
    }
}

/// Names of hosts as hashes: `|1|salt|hash`, so that a file does not tell where its owner connects to.
enum HashedName {
    private static let start = Array("|1|".utf8)
    /// The bytes of a salt and a hash, and how long they are in Base64.
    private static let (size, length) = (20, 28)

    /// Whether a field of a line is hashed.
    static func isHashed(_ field: ArraySlice<UInt8>) -> Bool { field.first == UInt8(ascii: "|") }

    /// Whether a field is the hash of a name. Other ways to write the same bytes do not count, as in ssh.
    static func matches(_ field: ArraySlice<UInt8>, _ name: [UInt8]) -> Bool {
        guard field.count == start.count + 2 * length + 1, field.starts(with: start) else { return false }
        let salt = field.dropFirst(start.count).prefix(length)
        guard field[salt.endIndex] == UInt8(ascii: "|"), salt.last == UInt8(ascii: "="),
            let bytes = Base64.decode(String(decoding: salt, as: UTF8.self)), bytes.count == size
        else { return false }
        return Base64.encode(hash(name, salt: bytes)).utf8.elementsEqual(field[(salt.endIndex + 1)...])
    }

    /// The field for a name, with a new salt.
    static func field(for name: String) throws(CryptographyError) -> String {
        let salt = try Random.bytes(size)
        return "|1|\(Base64.encode(salt))|\(Base64.encode(hash(Array(name.utf8), salt: salt)))"
    }

    private static func hash(_ name: [UInt8], salt: [UInt8]) -> [UInt8] {
        HMAC.sha1(name.span, key: salt.span)
    }
}
