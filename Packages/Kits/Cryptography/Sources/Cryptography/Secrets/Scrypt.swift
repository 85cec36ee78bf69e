import COpenSSL

/// Derives keys from passphrases slowly, so that guessing is expensive (RFC 7914).
///
/// The parameters are validated when they are read, so that a file cannot make a program use all memory or run for
/// ever.
public struct Scrypt: Sendable, Hashable {
    /// The cost (N), a power of two.
    public let cost: Int
    /// The block size (r), in units of 128 bytes.
    public let blockSize: Int
    /// The parallelism (p). The mixes run one after the other.
    public let parallelism: Int

    /// Takes about 0.4 seconds and 128 MiB on a common machine.
    public static let standard = Scrypt(checked: 1 << 17, 8, 1)
    /// The maximum memory of a derivation, in bytes.
    public static let memoryLimit = 256 << 20

    private init(checked cost: Int, _ blockSize: Int, _ parallelism: Int) {
        self.cost = cost
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// Accepts at most 256 MiB and about twice the time of `standard`.
    public init(cost: Int, blockSize: Int, parallelism: Int) throws(CryptographyError) {
        guard (2...(1 << 20)).contains(cost), cost & (cost - 1) == 0, (1...32).contains(blockSize),
            (1...16).contains(parallelism), cost * blockSize * 128 <= Self.memoryLimit,
            cost * blockSize * parallelism <= 1 << 21
        else {
            throw CryptographyError(
                .parameters,
                "the scrypt parameters N=\(cost), r=\(blockSize), p=\(parallelism) are outside the allowed range")
        }
        self.init(checked: cost, blockSize, parallelism)
    }

    /// Derives a key. This blocks the calling thread for as long as the parameters demand.
    public func derive(
        from passphrase: SecretBytes, salt: [UInt8], count: Int = SealingKey.size
    ) throws(CryptographyError) -> SecretBytes {
        guard (1...1024).contains(count) else {
            throw CryptographyError(.parameters, "cannot derive a key of \(count) bytes; use 1 to 1024 bytes")
        }
        // libcrypto uses at most 32 MiB unless a limit is given.
        let memory = UInt64(128 * blockSize * (cost + parallelism + 2)) + 4096
        return try unsafe SecretBytes(count: count) { output throws(CryptographyError) in
            ErrorQueue.clear()
            let made = passphrase.withBytes { passphrase in
                unsafe passphrase.withUnsafeBytes { passphrase in
                    unsafe EVP_PBE_scrypt(
                        passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), passphrase.count, salt, salt.count,
                        UInt64(cost), UInt64(blockSize), UInt64(parallelism), memory,
                        output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count)
                }
            }
            guard made == 1 else { throw ErrorQueue.failure("derive a key") }
        }
    }
}
