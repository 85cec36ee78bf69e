import COpenSSL

/// Codes that prove that whoever wrote a message knew a key.
public enum HMAC {
    /// The code of a message, 32 bytes; compare it with `ConstantTime.equal`.
    public static func sha256(_ message: Span<UInt8>, key: SecretBytes) throws(CryptographyError) -> [UInt8] {
        guard key.count <= Int32.max else { throw CryptographyError(.parameters, "the key is too long") }
        ErrorQueue.clear()
        var made = false
        let code = key.withBytes { secret in
            unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, filled in
                made = unsafe secret.withUnsafeBytes { key in
                    unsafe message.withUnsafeBytes { text in
                        unsafe COpenSSL.HMAC(
                            EVP_sha256(), key.baseAddress, Int32(key.count),
                            text.baseAddress?.assumingMemoryBound(to: UInt8.self), text.count, buffer.baseAddress, nil)
                            != nil
                    }
                }
                filled = made ? 32 : 0
            }
        }
        guard made else { throw ErrorQueue.failure("authenticate a message") }
        return code
    }
}
