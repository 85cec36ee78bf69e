/// The key of a member, lent to the closure that reads the member; `String(copying:)` keeps it.
public typealias JSONKey = UTF8Span

extension UTF8Span {
    /// Lets `switch key { case "delta": … }` compare bytes, without making a string.
    @inlinable
    @inline(__always)
    public static func ~= (literal: StaticString, key: JSONKey) -> Bool {
        guard literal.utf8CodeUnitCount == key.count else { return false }
        return unsafe key.span.withUnsafeBufferPointer { bytes in
            for place in 0..<bytes.count where unsafe bytes[place] != literal.utf8Start[place] { return false }
            return true
        }
    }

    /// Whether the key has the bytes of the literal.
    @inlinable
    @inline(__always)
    public static func == (key: JSONKey, literal: StaticString) -> Bool {
        literal ~= key
    }
}
