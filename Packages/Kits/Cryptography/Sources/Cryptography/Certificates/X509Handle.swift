import CCryptography
import COpenSSL

/// Owns one reference to a certificate of libcrypto.
@safe
struct X509Handle: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over a reference.
    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    /// Adds a reference to a certificate that somebody else owns.
    init(retaining pointer: OpaquePointer) {
        unsafe X509_up_ref(pointer)
        unsafe self.pointer = pointer
    }

    /// Reads one certificate that fills all of `der`.
    init(der: Span<UInt8>) throws(CryptographyError) {
        ErrorQueue.clear()
        var used = 0
        let pointer: OpaquePointer? = unsafe der.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var next: UnsafePointer<UInt8>? = unsafe start
            let certificate = unsafe d2i_X509(nil, &next, bytes.count)
            if let next = unsafe next { used = unsafe next - start }
            return unsafe certificate
        }
        guard let pointer = unsafe pointer else {
            throw CryptographyError(.malformed, "this is no certificate: \(ErrorQueue.reason())")
        }
        guard used == der.count else {
            unsafe X509_free(pointer)
            throw CryptographyError(.malformed, "there are \(der.count - used) bytes behind the end of the certificate")
        }
        unsafe self.pointer = pointer
    }

    deinit { unsafe X509_free(pointer) }

    /// The certificate as DER.
    borrowing func encoded() throws(CryptographyError) -> [UInt8] {
        ErrorQueue.clear()
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509(pointer, &bytes)
        guard let bytes = unsafe Self.take(bytes, count) else { throw ErrorQueue.failure("write a certificate") }
        return bytes
    }

    /// Copies bytes that the library allocated and gives them back; nil when it made none.
    static func take(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> [UInt8]? {
        guard let start = unsafe start else { return nil }
        defer { unsafe ccryptography_free(start) }
        return count < 0 ? nil : unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}
