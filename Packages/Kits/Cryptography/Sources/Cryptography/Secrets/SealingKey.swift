import CCryptography

/// A key of 32 bytes that seals data (AES-256 in Galois/counter mode) and opens it again if it is unchanged.
///
///     let key = try SealingKey.random()
///     let box = try key.seal(text.span, authenticating: header)
///     let again = try key.open(box, authenticating: header)
public struct SealingKey: Sendable {
    /// The size of a key in bytes.
    public static let size = 32

    private let bytes: SecretBytes

    /// A stored key. Throws `.parameters` unless it has exactly `size` bytes.
    public init(_ bytes: SecretBytes) throws(CryptographyError) {
        guard bytes.count == Self.size else {
            throw CryptographyError(.parameters, "a sealing key must have \(Self.size) bytes, not \(bytes.count)")
        }
        self.bytes = bytes
    }

    /// A new key from the system's random numbers.
    public static func random() throws(CryptographyError) -> SealingKey {
        try SealingKey(Random.secret(size))
    }

    /// Passes the key to `body`, to store it.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withBytes(body)
    }

    /// Seals with a new random nonce. One key is safe for about four thousand million boxes.
    ///
    /// `context` is not stored in the box, but must be the same when it is opened.
    public func seal(_ text: Span<UInt8>, authenticating context: [UInt8] = []) throws(CryptographyError) -> SealedBox {
        try seal(text, authenticating: context, nonce: Random.bytes(SealedBox.nonceSize))
    }

    /// Returns the text only after its tag was verified.
    public func open(
        _ box: SealedBox, authenticating context: [UInt8] = []
    ) throws(CryptographyError) -> SecretBytes {
        let count = box.encoded.count - SealedBox.overhead
        guard let small = Int32(exactly: count), let contextCount = Int32(exactly: context.count) else {
            throw .notAuthenticBox
        }
        // The buffer is wiped when this throws, so a text with a wrong tag is never returned.
        return try unsafe SecretBytes(count: count) { output throws(CryptographyError) in
            let opened = bytes.withBytes { key in
                unsafe key.withUnsafeBufferPointer { key in
                    unsafe box.encoded.withUnsafeBufferPointer { box in
                        unsafe ccryptography_open(
                            key.baseAddress, box.baseAddress, context, contextCount,
                            box.baseAddress.map { unsafe $0 + SealedBox.nonceSize }, small,
                            output.baseAddress?.assumingMemoryBound(to: UInt8.self))
                    }
                }
            }
            ErrorQueue.clear()
            guard opened == 1 else { throw .notAuthenticBox }
        }
    }

    /// Never use a nonce twice: that would reveal the text.
    func seal(
        _ text: Span<UInt8>, authenticating context: [UInt8], nonce: [UInt8]
    ) throws(CryptographyError) -> SealedBox {
        precondition(nonce.count == SealedBox.nonceSize, "a nonce has 12 bytes")
        guard let count = Int32(exactly: text.count), let contextCount = Int32(exactly: context.count) else {
            throw CryptographyError(.parameters, "cannot seal more than 2 GiB at once")
        }
        ErrorQueue.clear()
        var box = nonce + [UInt8](repeating: 0, count: text.count + SealedBox.tagSize)
        let sealed = bytes.withBytes { key in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe text.withUnsafeBufferPointer { text in
                    unsafe box.withUnsafeMutableBufferPointer { box in
                        unsafe ccryptography_seal(
                            key.baseAddress, nonce, context, contextCount, text.baseAddress, count,
                            box.baseAddress.map { unsafe $0 + SealedBox.nonceSize })
                    }
                }
            }
        }
        guard sealed == 1 else { throw ErrorQueue.failure("seal data") }
        return try SealedBox(encoded: box)
    }
}

/// Data sealed with a `SealingKey`: a nonce of 12 bytes, the encrypted bytes and a tag of 16 bytes.
public struct SealedBox: Sendable, Hashable {
    /// All three in this order, for storage.
    public let encoded: [UInt8]

    static let nonceSize = 12
    static let tagSize = 16
    static let overhead = nonceSize + tagSize

    /// Parses the result of `encoded`. Whether it is authentic is checked when it is opened.
    public init(encoded: [UInt8]) throws(CryptographyError) {
        guard encoded.count >= Self.overhead else { throw .notAuthenticBox }
        self.encoded = encoded
    }
}
