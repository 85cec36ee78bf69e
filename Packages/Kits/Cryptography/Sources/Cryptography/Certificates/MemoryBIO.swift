import CCryptography
import COpenSSL

/// Owns a memory BIO of libcrypto, through which texts are read and written; freeing it wipes what it holds.
@safe
struct MemoryBIO: ~Copyable {
    let handle: OpaquePointer

    init() throws(CryptographyError) {
        guard let handle = unsafe BIO_new(BIO_s_mem()) else { throw ErrorQueue.failure("get memory for a text") }
        unsafe self.handle = handle
    }

    /// One that holds a copy of bytes to read.
    static func holding(_ bytes: Span<UInt8>) throws(CryptographyError) -> MemoryBIO {
        guard bytes.count <= limit else {
            throw CryptographyError(.malformed, "\(bytes.count) bytes are too many for certificates and keys")
        }
        let bio = try MemoryBIO()
        guard !bytes.isEmpty else { return bio }
        let written = unsafe bytes.withUnsafeBytes { unsafe BIO_write(bio.handle, $0.baseAddress, Int32($0.count)) }
        guard written == bytes.count else { throw ErrorQueue.failure("get memory for a text") }
        return bio
    }

    deinit { unsafe BIO_free(handle) }

    /// Much more than the bundle of all public authorities needs.
    static let limit = 16 << 20

    /// Lends what it holds.
    borrowing func withContent<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var start: UnsafePointer<UInt8>?
        let count = unsafe ccryptography_bio_content(handle, &start)
        return unsafe body(UnsafeBufferPointer(start: start, count: count))
    }

    /// What it holds as text, in which bad UTF-8 is repaired.
    borrowing func text() -> String {
        unsafe withContent { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
