import Capabilities
import FileKit
import Glibc
import SSHCore

/// A private key in the format of OpenSSH, as it is in its file. It is cleared with the last reference.
final class PrivateKeyFile: Sendable {
    let path: String
    /// The public half, which is in the file too.
    let key: HostKey
    /// Whether a passphrase is needed.
    let isEncrypted: Bool
    /// The content, with a zero byte at the end for C.
    private let content: ClearedBytes

    /// Why a file cannot be used, as the rest of a sentence that begins with its path.
    struct Problem: Error {
        let words: String
        /// Whether the system's ssh may be able to use it.
        var needsSystem = false
    }

    private static let limit = 1 << 16
    private static let start = Array("-----BEGIN OPENSSH PRIVATE KEY-----".utf8)
    private static let end = Array("-----END OPENSSH PRIVATE KEY-----".utf8)

    /// Reads a file. Nil if there is none.
    static func read(_ path: String) throws(Problem) -> PrivateKeyFile? {
        let bytes: ClearedBytes
        let mode: UInt32
        do throws(FileError) {
            mode = UInt32(try Files.info(Files.canonical(path)).mode)
            bytes = ClearedBytes(try Files.read(path, limit: limit))
        } catch {
            if error.errno == ENOENT || error.errno == ENOTDIR { return nil }
            throw Problem(words: "cannot be read: \(error.reason)")
        }
        // As ssh, which asks that of the user's own files.
        guard mode & 0o077 == 0 else {
            throw Problem(words: "can be read by others; its owner can change that with chmod go-rwx")
        }
        return try PrivateKeyFile(path, bytes)
    }

    private init(_ path: String, _ content: ClearedBytes) throws(Problem) {
        self.path = path
        guard content.bytes.starts(with: Self.start) else {
            throw Problem(
                words:
                    "is not a private key in the format of OpenSSH (ssh-keygen -p rewrites it)", needsSystem: true)
        }
        let letters = content.bytes.dropFirst(Self.start.count).prefix { $0 != UInt8(ascii: "-") }
            .filter { $0 > 0x20 }
        guard let decoded = Base64.decode(String(decoding: letters, as: UTF8.self)).map(ClearedBytes.init),
            decoded.bytes.starts(with: Array("openssh-key-v1\0".utf8))
        else { throw Problem(words: "is damaged") }
        var reader = WireReader(decoded.bytes.dropFirst(15))
        guard let cipher = reader.text(), reader.text() != nil, reader.string() != nil, reader.word() == 1,
            let blob = reader.string()
        else { throw Problem(words: "is damaged") }
        do throws(SSHError) { key = try HostKey(blob: Array(blob)) } catch {
            throw Problem(words: "has a key that cannot be used: \(error.message)")
        }
        isEncrypted = cipher != "none"
        self.content = ClearedBytes(content.bytes + [0])
    }

    /// The text for C, without the zero byte in its count.
    func withText<Result>(_ body: (UnsafePointer<CChar>, Int) -> Result) -> Result? {
        unsafe content.bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return nil }
            return unsafe body(start.assumingMemoryBound(to: CChar.self), bytes.count - 1)
        }
    }
}

/// Bytes that are cleared with the last reference.
private final class ClearedBytes: Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    deinit {
        // The only reference: nobody else reads them now.
        unsafe bytes.withUnsafeBytes { buffer in
            if let start = buffer.baseAddress {
                unsafe explicit_bzero(UnsafeMutableRawPointer(mutating: start), buffer.count)
            }
        }
    }
}
