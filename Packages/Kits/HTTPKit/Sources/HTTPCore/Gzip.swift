import CZlib

/// Compresses whole bodies in gzip, for clients and servers.
package enum Gzip {
    /// The bytes in gzip, or nil when that would not be shorter.
    package static func compress(_ bytes: [UInt8]) -> [UInt8]? {
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
}
