import COpenSSL

/// Comparison whose duration says nothing about where two values differ.
public enum ConstantTime {
    /// Whether both hold the same bytes; only the lengths may be learnt from the time this takes.
    public static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe left.withUnsafeBytes { first in
            unsafe right.withUnsafeBytes { second in
                unsafe first.isEmpty || CRYPTO_memcmp(first.baseAddress, second.baseAddress, first.count) == 0
            }
        }
    }
}
