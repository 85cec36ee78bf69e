import Capabilities
import Cryptography

/// The public key of a host, as it sends it and as files of known hosts contain it.
public struct HostKey: Sendable, Hashable {
    /// The type inside the key.
    public let type: KeyType
    /// The key as it is sent: its type and its numbers.
    public let blob: [UInt8]

    /// More than any key of 16,384 bits, and enough for certificates.
    static let largestBlob = 1 << 16

    /// Reads a key as it is sent. Throws `.key` if it is cut, has more after its end, or is of an unknown type.
    public init(blob: [UInt8]) throws(SSHError) {
        guard blob.count <= Self.largestBlob else {
            throw SSHError(.key, "the host's key has \(blob.count) bytes; the limit is \(Self.largestBlob)")
        }
        var reader = WireReader(blob[...])
        guard let name = reader.text() else { throw SSHError(.key, "the host's key is damaged") }
        guard let type = KeyType(named: name), type.name == name else {
            throw SSHError(.key, "the host's key has the unknown type \(PlainText.escape(name, limit: 64))")
        }
        guard Self.isWhole(type, &reader) else { throw SSHError(.key, "the host's \(type) key is damaged") }
        self.type = type
        self.blob = blob
    }

    /// Reads the two fields of a file: the name of the type and the key in Base64. Nil if ssh ignores such a line too.
    public init?(type field: ArraySlice<UInt8>, text: ArraySlice<UInt8>) {
        guard let type = KeyType(named: String(decoding: field, as: UTF8.self)) else { return nil }
        // The library's decoder skips what C regards as space, such as the end of a line of DOS.
        let letters = text.filter { !(11...13).contains($0) }
        guard !letters.isEmpty, letters.count % 4 == 0, letters.count <= Self.largestBlob / 3 * 4,
            let blob = Base64.decode(String(decoding: letters, as: UTF8.self))
        else { return nil }
        do throws(SSHError) { try self.init(blob: blob) } catch { return nil }
        guard self.type == type else { return nil }
    }

    /// The fingerprint as ssh shows it: `SHA256:` and 43 characters.
    public var fingerprint: String {
        "SHA256:" + Base64.encode(Digest.sha256(blob)).prefix { $0 != "=" }
    }

    /// The type and the key in Base64, as in files.
    public var text: String { "\(type.name) \(Base64.encode(blob))" }

    /// Whether the rest is what a key of the type has, and nothing more.
    private static func isWhole(_ type: KeyType, _ reader: inout WireReader) -> Bool {
        switch type {
        case .ed25519: reader.string()?.count == 32 && reader.isAtEnd
        case .ecdsa256: hasPoint(on: "nistp256", size: 32, &reader) && reader.isAtEnd
        case .ecdsa384: hasPoint(on: "nistp384", size: 48, &reader) && reader.isAtEnd
        case .ecdsa521: hasPoint(on: "nistp521", size: 66, &reader) && reader.isAtEnd
        case .securityKeyEd25519: reader.string()?.count == 32 && reader.text() != nil && reader.isAtEnd
        case .securityKeyECDSA:
            hasPoint(on: "nistp256", size: 32, &reader) && reader.text() != nil && reader.isAtEnd
        // "SSH_RSA_MINIMUM_MODULUS_SIZE 1024" (sshkey.h): ssh ignores shorter keys.
        case .rsa: reader.number() != nil && bits(reader.number()) >= 1_024 && reader.isAtEnd
        case .dsa: (0..<4).allSatisfy { _ in reader.number() != nil } && reader.isAtEnd
        // Who signed a certificate is for ssh to judge. It never equals the key of a host.
        default: reader.string() != nil && !reader.isAtEnd
        }
    }

    private static func hasPoint(on curve: String, size: Int, _ reader: inout WireReader) -> Bool {
        guard reader.text() == curve, let point = reader.string() else { return false }
        // Not compressed, as in RFC 5656.
        return point.count == 1 + 2 * size && point.first == 4
    }

    private static func bits(_ number: ArraySlice<UInt8>?) -> Int {
        guard let number, let first = number.first else { return 0 }
        return number.count * 8 - first.leadingZeroBitCount
    }
}
