import COpenSSL

/// Unpredictable random bytes.
public enum Random {
    /// For public values: nonces, salts, identifiers.
    public static func bytes(_ count: Int) throws(CryptographyError) -> [UInt8] {
        try check(count)
        ErrorQueue.clear()
        var made = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            made = unsafe RAND_bytes(buffer.baseAddress, Int32(count)) == 1
            filled = made ? count : 0
        }
        guard made else { throw ErrorQueue.failure("create random bytes") }
        return bytes
    }

    /// For keys, from a separate generator.
    public static func secret(_ count: Int) throws(CryptographyError) -> SecretBytes {
        try check(count)
        return try unsafe SecretBytes(count: count) { buffer throws(CryptographyError) in
            ErrorQueue.clear()
            guard unsafe RAND_priv_bytes(buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(count)) == 1
            else { throw ErrorQueue.failure("create a random key") }
        }
    }

    private static func check(_ count: Int) throws(CryptographyError) {
        guard (0...(1 << 24)).contains(count) else {
            throw CryptographyError(.parameters, "cannot create \(count) random bytes at once; the limit is 16 MiB")
        }
    }
}
