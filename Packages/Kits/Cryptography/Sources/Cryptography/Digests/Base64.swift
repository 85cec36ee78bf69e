import COpenSSL

/// Bytes as letters, four for every three bytes, as `Sec-WebSocket-Accept`, `Authorization` and PEM need them.
public enum Base64 {
    public static func encode(_ bytes: [UInt8]) -> String {
        precondition(bytes.count <= Int(Int32.max) / 2, "more than 1 GiB is not encoded at once")
        return unsafe String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4 + 1) { buffer in
            Int(unsafe EVP_EncodeBlock(buffer.baseAddress, bytes, Int32(bytes.count)))
        }
    }
}
