import COpenSSL
public import Capabilities

/// Bytes that must not be seen: they are overwritten when the last reference goes, and print as `‹redacted›`.
@safe
public final class SecretBytes: Sendable {
    public let count: Int
    // Written only before an initialiser returns and wiped only in deinit, so every thread may read it.
    nonisolated(unsafe) private let start: UnsafeMutableRawPointer

    /// Lets `fill` write all bytes; what it wrote is wiped when it throws.
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

    /// Copies bytes; the caller's own copy stays as it was.
    public convenience init(copying bytes: Span<UInt8>) {
        unsafe self.init(count: bytes.count) { buffer in
            unsafe bytes.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
        }
    }

    deinit {
        unsafe OPENSSL_cleanse(start, count)
        unsafe start.deallocate()
    }

    /// Lends the bytes for the length of the call.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe Span(_unsafeElements: bytes))
    }

    /// Compares without telling by time where the two differ.
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
        // Straight out of the text, because a copy in between would stay in memory.
        self.init(utf8: secret.withText { $0 }.utf8)
    }

    private convenience init(utf8 text: String.UTF8View) {
        unsafe self.init(count: text.count) { unsafe $0.copyBytes(from: text) }
    }
}
