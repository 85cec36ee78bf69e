import COpenSSL
public import Capabilities

/// Secret bytes. They are overwritten when the last reference is released, and print as `‹redacted›`.
@safe
public final class SecretBytes: Sendable {
    /// The number of bytes, which is not secret.
    public let count: Int
    // Written only in initialisers and wiped only in deinit, so every thread may read it.
    nonisolated(unsafe) private let start: UnsafeMutableRawPointer

    /// Lets `fill` write all bytes. They are wiped if it throws.
    init<Failure: Error>(
        count: Int, filling fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        let start = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 16)
        unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: max(count, 1))
        do {
            try unsafe fill(UnsafeMutableRawBufferPointer(start: start, count: count))
        } catch {
            unsafe OPENSSL_cleanse(start, count)
            unsafe start.deallocate()
            throw error
        }
        self.count = count
        unsafe self.start = start
    }

    /// Copies bytes. The caller's copy is not changed.
    public convenience init(copying bytes: Span<UInt8>) {
        unsafe self.init(count: bytes.count) { buffer in
            unsafe bytes.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
        }
    }

    deinit {
        unsafe OPENSSL_cleanse(start, count)
        unsafe start.deallocate()
    }

    /// Passes the bytes to `body` during the call.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe Span(_unsafeElements: bytes))
    }

    /// Compares in constant time.
    public func equals(_ other: SecretBytes) -> Bool {
        withBytes { left in other.withBytes { right in ConstantTime.equal(left, right) } }
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "‹redacted›" }
    public var debugDescription: String { "‹redacted›" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SecretBytes {
    /// The UTF-8 of a secret text, such as a passphrase.
    public convenience init(_ secret: Secret) {
        // Read directly from the text, because a copy in between would stay in memory.
        self.init(utf8: secret.withText { $0 }.utf8)
    }

    private convenience init(utf8 text: String.UTF8View) {
        unsafe self.init(count: text.count) { unsafe $0.copyBytes(from: text) }
    }
}
