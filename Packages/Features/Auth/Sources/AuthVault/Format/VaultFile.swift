import Cryptography

/// A vault's file: a header and one sealed box with all secrets, which the header is bound to.
struct VaultFile: Sendable {
    let header: VaultHeader
    private let head: [UInt8]
    private let box: SealedBox
    private let path: String

    /// Reads what `seal` gave; `path` names the file in errors.
    init(parsing bytes: [UInt8], path: String) throws(VaultError) {
        let (header, bodySize) = try VaultHeader.parse(bytes, path: path)
        let body = bytes[VaultHeader.size...]
        guard body.count >= bodySize else { throw .cut(path) }
        guard body.count == bodySize else { throw .damaged(path) }
        do {
            box = try SealedBox(encoded: Array(body))
        } catch {
            throw .damaged(path)
        }
        self.header = header
        self.path = path
        head = Array(bytes[..<VaultHeader.size])
    }

    /// The secrets as they were sealed, for a key that fits the header.
    func open(_ key: VaultKey) throws -> SecretBytes {
        do {
            return try key.sealingKey().open(box, authenticating: head)
        } catch let error as CryptographyError where error.kind == .notAuthentic {
            throw VaultError(
                .changed,
                "the vault \(path) was changed by somebody who does not have its key, so it is not opened; "
                    + "restore it from a backup")
        }
    }

    /// A file with a new nonce, so that equal secrets give different files.
    static func seal(_ body: Span<UInt8>, header: VaultHeader, key: VaultKey) throws -> [UInt8] {
        // The size of a box does not depend on what is in it, so an empty one tells what is added.
        let overhead = try key.sealingKey().seal([UInt8]().span).encoded.count
        let head = header.encoded(bodySize: body.count + overhead)
        return head + (try key.sealingKey().seal(body, authenticating: head).encoded)
    }
}
