import CZlib

/// Compresses and decompresses whole bodies in gzip, for clients and servers.
public enum Gzip {
    /// The bytes in gzip, or nil when that would not be shorter.
    public static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        // 15 window bits, plus 16 for a gzip header instead of zlib's.
        guard
            unsafe deflateInit2_(
                &stream, 5, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)
            )
                == Z_OK
        else { return nil }
        defer { unsafe deflateEnd(&stream) }
        let result = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
                unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.avail_in = UInt32(input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(output.count)
                let isWhole = unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = unsafe isWhole ? output.count - Int(stream.avail_out) : 0
            }
        }
        return result.isEmpty ? nil : result
    }

    /// Why bytes could not be decompressed.
    public enum Problem: Error, Sendable, Hashable {
        /// They are not gzip, or end too early.
        case malformed
        /// They become more bytes than the limit.
        case tooLarge
    }

    /// The bytes in one or several members of gzip.
    ///
    /// - Parameter limit: as many bytes are made at most, however few they come from.
    public static func decompress(_ bytes: [UInt8], limit: Int) throws(Problem) -> [UInt8] {
        var stream = unsafe z_stream()
        guard
            unsafe inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { throw .malformed }
        defer { unsafe inflateEnd(&stream) }
        var result: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(64 << 10, limit + 1))
        var taken = 0
        while true {
            let status = unsafe bytes[taken...].withUnsafeBufferPointer { input in
                unsafe piece.withUnsafeMutableBufferPointer { output in
                    unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                    unsafe stream.avail_in = UInt32(clamping: input.count)
                    unsafe stream.next_out = output.baseAddress
                    unsafe stream.avail_out = UInt32(output.count)
                    defer { unsafe taken += Int(UInt32(clamping: input.count) - stream.avail_in) }
                    return unsafe inflate(&stream, Z_NO_FLUSH)
                }
            }
            let made = unsafe piece.count - Int(stream.avail_out)
            guard made <= limit - result.count else { throw .tooLarge }
            result += piece[..<made]
            switch status {
            case Z_STREAM_END where taken == bytes.count: return result
            case Z_STREAM_END:
                guard unsafe inflateReset(&stream) == Z_OK else { throw .malformed }
            case Z_OK where made > 0 || taken < bytes.count: break
            default: throw .malformed
            }
        }
    }
}
