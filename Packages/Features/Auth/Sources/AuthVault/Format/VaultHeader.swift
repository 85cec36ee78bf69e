import Cryptography

/// The readable beginning of a vault's file: how its key is made, and what tells a wrong key.
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
/// Numbers are big-endian. The digest protects against nothing but accidents: it lets a damaged salt be told from a wrong
/// passphrase. Who changes the header on purpose and mends the digest meets the key check or the seal.
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
    /// Reads the header at the beginning of a file, and how large the body after it is.
    static func parse(_ bytes: [UInt8], path: String) throws(VaultError) -> (header: VaultHeader, bodySize: Int) {
        guard bytes.prefix(magic.count) == magic.prefix(bytes.count) else {
            throw VaultError(.notVault, "\(path) is not a vault of secrets; move it away, and a new one will be made")
        }
        guard bytes.count >= size else { throw .cut(path) }
        let version = Int(bytes[8]) << 8 | Int(bytes[9])
        guard version <= Int(Self.version) else {
            throw VaultError(
                .newer, "the vault \(path) was written by a newer Martlet (its format is \(version)); update Martlet")
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

extension VaultError {
    static func cut(_ path: String) -> VaultError {
        VaultError(
            .cut, "the end of the vault \(path) is missing; restore it from a backup, or move it away to start anew")
    }

    static func damaged(_ path: String) -> VaultError {
        VaultError(
            .damaged, "the vault \(path) is damaged; restore it from a backup, or move it away to start anew")
    }

    fileprivate static func parameters(_ path: String) -> VaultError {
        VaultError(
            .parameters,
            "the vault \(path) asks for work outside of what is safe, so it is not opened; restore it from a backup")
    }
}
