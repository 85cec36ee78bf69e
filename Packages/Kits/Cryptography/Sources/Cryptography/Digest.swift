import CCryptography
import COpenSSL

/// An incremental cryptographic hash. The static functions hash in one call.
///
///     var digest = Digest(.sha256)
///     digest.update(first.span)
///     digest.update(second.span)
///     let hash = digest.finish()
@safe
public struct Digest: ~Copyable {
    /// The hash algorithm.
    public enum Algorithm: Sendable, CaseIterable {
        /// Only for protocols that require it, such as the handshake of WebSocket. It is not secure.
        case sha1
        case sha256
        case sha512

        /// The size of the result in bytes.
        public var size: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }

        var handle: OpaquePointer {
            switch self {
            case .sha1: unsafe EVP_sha1()
            case .sha256: unsafe EVP_sha256()
            case .sha512: unsafe EVP_sha512()
            }
        }
    }

    private let context: OpaquePointer
    private let algorithm: Algorithm

    /// Starts an empty hash.
    public init(_ algorithm: Algorithm) {
        guard let context = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex(context, algorithm.handle, nil) == 1
        else { Self.fail() }
        unsafe self.context = context
        self.algorithm = algorithm
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds bytes. The result does not depend on how they are split.
    public mutating func update(_ bytes: Span<UInt8>) {
        let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        guard done == 1 else { Self.fail() }
    }

    /// The hash of everything added.
    public consuming func finish() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: algorithm.size) { buffer, filled in
            guard unsafe EVP_DigestFinal_ex(context, buffer.baseAddress, nil) == 1 else { Self.fail() }
            filled = algorithm.size
        }
    }

    /// These algorithms fail only when memory has run out or the library does not support them.
    private static func fail() -> Never {
        fatalError("libcrypto cannot compute a hash: \(ErrorQueue.reason())")
    }
}

extension Digest {
    /// Hashes in one call.
    public static func hash(_ bytes: Span<UInt8>, _ algorithm: Algorithm) -> [UInt8] {
        var digest = Digest(algorithm)
        digest.update(bytes)
        return digest.finish()
    }

    /// The SHA-1 of the bytes: 20 bytes, only for protocols that require it.
    public static func sha1(_ bytes: [UInt8]) -> [UInt8] { hash(bytes.span, .sha1) }
    /// The SHA-256 of the bytes: 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] { hash(bytes.span, .sha256) }
    /// The SHA-512 of the bytes: 64 bytes.
    public static func sha512(_ bytes: [UInt8]) -> [UInt8] { hash(bytes.span, .sha512) }
}

extension Digest {
    /// The version of OpenSSL at build time. The installed version may be newer, and is not loaded for this.
    public static var libraryVersion: String { OPENSSL_VERSION_STR }

    /// The installed version of OpenSSL. This loads the library, and throws when it cannot be used.
    public static func installedLibraryVersion() throws(CryptographyError) -> String {
        if let reason = unsafe ccryptography_problem() {
            throw CryptographyError(
                .library,
                "libssl cannot be used: \(unsafe String(cString: reason)); install OpenSSL 3 (Debian: apt install libssl3)"
            )
        }
        return unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))
    }
}

/// Message authentication codes, which prove that the author of a message knew a key.
public enum HMAC {
    /// The code of a message, 32 bytes. Compare it with `ConstantTime.equal`.
    public static func sha256(_ message: Span<UInt8>, key: SecretBytes) throws(CryptographyError) -> [UInt8] {
        guard key.count <= Int32.max else { throw CryptographyError(.parameters, "the key is too long") }
        ErrorQueue.clear()
        guard let code = key.withBytes({ code(of: message, key: $0, .sha256) }) else {
            throw ErrorQueue.failure("authenticate a message")
        }
        return code
    }

    /// The code with SHA-1, 20 bytes, only for formats that require it, such as the hashed names of known hosts of SSH. The
    /// key is not secret.
    public static func sha1(_ message: Span<UInt8>, key: Span<UInt8>) -> [UInt8] {
        guard key.count <= Int32.max, let code = code(of: message, key: key, .sha1) else {
            fatalError("libcrypto cannot authenticate a message: \(ErrorQueue.reason())")
        }
        return code
    }

    private static func code(
        of message: Span<UInt8>, key: Span<UInt8>, _ algorithm: Digest.Algorithm
    ) -> [UInt8]? {
        var made = false
        let code = unsafe [UInt8](unsafeUninitializedCapacity: algorithm.size) { buffer, filled in
            made = unsafe key.withUnsafeBytes { key in
                unsafe message.withUnsafeBytes { text in
                    unsafe COpenSSL.HMAC(
                        algorithm.handle, key.baseAddress, Int32(key.count),
                        text.baseAddress?.assumingMemoryBound(to: UInt8.self), text.count, buffer.baseAddress, nil)
                        != nil
                }
            }
            filled = made ? algorithm.size : 0
        }
        return made ? code : nil
    }
}

/// A comparison whose duration does not reveal where two values differ.
public enum ConstantTime {
    /// Whether both contain the same bytes. The duration reveals only the lengths.
    public static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe left.withUnsafeBytes { first in
            unsafe right.withUnsafeBytes { second in
                unsafe first.isEmpty || CRYPTO_memcmp(first.baseAddress, second.baseAddress, first.count) == 0
            }
        }
    }
}
