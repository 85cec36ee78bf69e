import Capabilities
import Cryptography
import JSON

/// The file of a vault: a header and one sealed box with all secrets. The box is bound to the header.
struct VaultFile: Sendable {
    let header: VaultHeader
    private let head: [UInt8]
    private let box: SealedBox
    private let path: String

    /// Parses the result of `seal`. `path` is the name for errors.
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

    /// Opens the box with a key that fits the header.
    func open(_ key: VaultKey) throws -> SecretBytes {
        do {
            return try key.sealingKey().open(box, authenticating: head)
        } catch let error as CryptographyError where error.kind == .notAuthentic {
            throw VaultError(
                .changed,
                "the vault \(path) was changed by someone without its key, so it is not opened; restore it from a "
                    + "backup")
        }
    }

    /// Seals the secrets with a new nonce, so that equal secrets give different files.
    static func seal(_ body: Span<UInt8>, header: VaultHeader, key: VaultKey) throws -> [UInt8] {
        // The overhead does not depend on the content, so an empty box gives it.
        let overhead = try key.sealingKey().seal([UInt8]().span).encoded.count
        let head = header.encoded(bodySize: body.count + overhead)
        return head + (try key.sealingKey().seal(body, authenticating: head).encoded)
    }
}

/// The unencrypted beginning of a vault file: how the key is made, and a check for a wrong key.
///
///     0   8  "MARTLETV"
///     8   2  version
///     10  1  form: 1 passphrase, 2 key file
///     11  3  scrypt: binary logarithm of N, r, p; zeros for a key file
///     14  32 salt
///     46  32 key check
///     78  4  size of the sealed body that follows
///     82  32 SHA-256 of all before
///
/// Numbers are big-endian. The digest protects only against accidents: it distinguishes a damaged salt from a wrong
/// passphrase. The key check and the seal detect deliberate changes.
struct VaultHeader: Sendable, Equatable {
    enum Form: Sendable, Equatable {
        case passphrase(Scrypt)
        case keyFile
    }

    static let size = 114
    static let saltSize = 32
    static let magic = Array("MARTLETV".utf8)
    static let version: UInt16 = 1

    let form: Form
    let salt: [UInt8]
    let check: [UInt8]

    init(_ form: Form, key: VaultKey) throws {
        self.form = form
        salt = key.salt
        check = try key.check()
    }

    func encoded(bodySize: Int) -> [UInt8] {
        var bytes = Self.magic
        bytes += Self.bigEndian(Self.version)
        switch form {
        case .passphrase(let scrypt):
            // `Scrypt` allows only powers of two up to 2^20, and 32 and 16 for the others.
            bytes += [
                1, UInt8(scrypt.cost.trailingZeroBitCount), UInt8(scrypt.blockSize), UInt8(scrypt.parallelism),
            ]
        case .keyFile: bytes += [2, 0, 0, 0]
        }
        bytes += salt + check + Self.bigEndian(UInt32(bodySize))
        return bytes + Digest.sha256(bytes)
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        stride(from: number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

// MARK: Reading

extension VaultHeader {
    /// Parses the header of a file, with the size of the body after it.
    static func parse(_ bytes: [UInt8], path: String) throws(VaultError) -> (header: VaultHeader, bodySize: Int) {
        guard bytes.prefix(magic.count) == magic.prefix(bytes.count) else {
            throw VaultError(.notVault, "\(path) is not a vault; move it away, and a new vault will be created")
        }
        guard bytes.count >= size else { throw .cut(path) }
        let version = Int(bytes[8]) << 8 | Int(bytes[9])
        guard version <= Int(Self.version) else {
            throw VaultError(
                .newer,
                "the vault \(path) was written by a newer version of Martlet (format \(version)); update Martlet")
        }
        guard version == Self.version, Digest.sha256(Array(bytes[..<82])) == Array(bytes[82..<size]) else {
            throw .damaged(path)
        }
        let bodySize = bytes[78..<82].reduce(0) { $0 << 8 | Int($1) }
        return (
            VaultHeader(try form(bytes[10..<14], path), salt: Array(bytes[14..<46]), check: Array(bytes[46..<78])),
            bodySize
        )
    }

    private init(_ form: Form, salt: [UInt8], check: [UInt8]) {
        self.form = form
        self.salt = salt
        self.check = check
    }

    private static func form(_ bytes: ArraySlice<UInt8>, _ path: String) throws(VaultError) -> Form {
        switch Array(bytes) {
        case [2, 0, 0, 0]: return .keyFile
        case let numbers where numbers[0] == 1 && numbers[1] <= 20:
            do {
                return .passphrase(
                    try Scrypt(cost: 1 << Int(numbers[1]), blockSize: Int(numbers[2]), parallelism: Int(numbers[3])))
            } catch {
                throw .parameters(path)
            }
        default: throw .parameters(path)
        }
    }
}

/// The sealed content: `{"secrets": {"openai": {"value": "…", "changed": "2026-11-21T09:30:00Z"}}}`.
///
/// All secrets are in memory only during a write. A read extracts only the requested secret.
struct VaultContent: Sendable {
    struct Record: Sendable {
        var value: Secret
        var changed: Timestamp
    }

    private(set) var records: [SecretName: Record] = [:]

    init() {}

    subscript(name: SecretName) -> Secret? { records[name]?.value }

    mutating func store(_ secret: Secret, named name: SecretName, at time: Timestamp) throws(VaultError) {
        guard records[name] != nil || records.count < SecretRules.mostSecrets else {
            throw VaultError(
                .size, "the vault has reached the limit of 10,000 secrets; remove secrets that you do not need")
        }
        records[name] = Record(value: secret, changed: time)
    }

    mutating func remove(_ name: SecretName) {
        records[name] = nil
    }

    /// The text to seal. The caller wipes it.
    func encoded() -> [UInt8] {
        var secrets = JSONObject()
        for (name, record) in records.sorted(by: { $0.key.text < $1.key.text }) {
            let value = record.value.withText { JSON.string($0) }
            secrets.append(name.text, ["value": value, "changed": .string(record.changed.iso8601)])
        }
        var bytes: [UInt8] = []
        // Reserves all space, because a growing array leaves its old bytes in memory.
        bytes.reserveCapacity(64 + records.reduce(0) { $0 + 256 + $1.value.value.withText { $0.utf8.count } * 2 })
        JSON.object(["secrets": .object(secrets)]).write(into: &bytes)
        return bytes
    }
}

// MARK: Reading

extension VaultContent {
    init(reading body: SecretBytes, path: String) throws {
        try Self.forEach(in: body, path: path) { name, reader in
            var value = ""
            let changed = try Self.member(&reader) { value = $0 }
            records[name] = Record(value: Secret(value), changed: changed)
        }
    }

    /// Reads one secret and skips the others.
    static func secret(named wanted: SecretName, in body: SecretBytes, path: String) throws -> Secret? {
        var found: Secret?
        try forEach(in: body, path: path) { name, reader in
            guard name == wanted else { return }
            _ = try member(&reader) { found = Secret($0) }
        }
        return found
    }

    /// Reads the names and when each was last changed.
    static func entries(in body: SecretBytes, path: String) throws -> [SecretEntry] {
        var entries: [SecretEntry] = []
        try forEach(in: body, path: path) { name, reader in
            entries.append(SecretEntry(name: name, changed: try member(&reader, value: nil)))
        }
        return entries.sorted { $0.name.text < $1.name.text }
    }

    private static func forEach(
        in body: SecretBytes, path: String, _ visit: (SecretName, inout JSONPullReader) throws -> Void
    ) throws {
        do {
            try body.withBytes { bytes in
                try JSONPullReader.read(bytes) { reader in
                    try reader.object { reader, key in
                        guard key == "secrets" else { return }
                        try reader.object { reader, key in try visit(SecretName(String(copying: key)), &reader) }
                    }
                }
            }
        } catch is JSONError {
            // The parser's error is dropped, because it could quote a secret.
            throw VaultError.damaged(path)
        }
    }

    private static func member(
        _ reader: inout JSONPullReader, value take: ((String) -> Void)?
    ) throws -> Timestamp {
        var changed: Timestamp?
        try reader.object { reader, key in
            switch key {
            case "value": if let take { take(try reader.string()) }
            case "changed": changed = Timestamp(iso8601: try reader.string())
            default: break
            }
        }
        return changed ?? Timestamp(microseconds: 0)
    }
}
