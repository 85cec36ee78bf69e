import CPCRE2

/// The result of a search.
public enum PatternMatch: Hashable, Sendable {
    /// The text has no match.
    case none
    /// The place of the first match, in bytes.
    case found(Range<Int>)
    /// Matching took too many steps, or too much memory.
    case gaveUp
}

/// What one thread needs for matching; it may use it for any number of patterns.
@safe
public final class PatternMatcher {
    private let data: OpaquePointer
    private let context: OpaquePointer
    /// More than the 32 KiB of the thread's own stack, once an expression has needed it.
    private var stack: OpaquePointer?

    /// Takes the memory for matching.
    public init() throws(PatternError) {
        guard let data = unsafe pcre2_match_data_create_8(1, nil) else { throw .memory }
        guard let context = unsafe pcre2_match_context_create_8(nil) else {
            unsafe pcre2_match_data_free_8(data)
            throw .memory
        }
        // In KiB, if the expression is interpreted.
        unsafe pcre2_set_heap_limit_8(context, 8 << 10)
        unsafe self.data = data
        unsafe self.context = context
    }

    deinit {
        unsafe pcre2_match_data_free_8(data)
        unsafe pcre2_match_context_free_8(context)
        unsafe pcre2_jit_stack_free_8(stack)
    }

    /// The first match in a part of the bytes. Bytes outside of the part have no influence.
    ///
    /// - Parameter limit: How often the expression may go back, counted from each place where a match may begin.
    public func firstMatch(
        of pattern: Pattern, in bytes: Span<UInt8>, _ part: Range<Int>, limit: UInt32
    ) -> PatternMatch {
        precondition(part.lowerBound >= 0 && part.upperBound <= bytes.count, "the part is outside of the bytes")
        return unsafe bytes.withUnsafeBufferPointer { unsafe match(pattern, $0, part, limit, 0) }
    }

    /// The first match in a text, by a pattern with the option `unicode`.
    public func firstMatch(of pattern: Pattern, in text: String, limit: UInt32) -> PatternMatch {
        let span = text.utf8.span
        // Strings are always valid UTF-8.
        return unsafe span.withUnsafeBufferPointer { bytes in
            unsafe match(pattern, bytes, 0..<bytes.count, limit, PCRE2_NO_UTF_CHECK)
        }
    }

    private func match(
        _ pattern: Pattern, _ bytes: UnsafeBufferPointer<UInt8>, _ part: Range<Int>, _ limit: UInt32, _ options: UInt32
    ) -> PatternMatch {
        var empty: UInt8 = 0
        return unsafe withUnsafePointer(to: &empty) { nothing in
            let start = unsafe (bytes.baseAddress ?? nothing) + part.lowerBound
            unsafe pcre2_set_match_limit_8(context, limit)
            var result = unsafe pcre2_match_8(pattern.code, start, part.count, 0, options, data, context)
            if result == PCRE2_ERROR_JIT_STACKLIMIT, enlargeStack() {
                result = unsafe pcre2_match_8(pattern.code, start, part.count, 0, options, data, context)
            }
            if result == PCRE2_ERROR_NOMATCH { return .none }
            guard result >= 0, let found = unsafe pcre2_get_ovector_pointer_8(data) else { return .gaveUp }
            let (lower, upper) = unsafe (found[0] + part.lowerBound, found[1] + part.lowerBound)
            return .found(lower..<max(lower, upper))
        }
    }

    /// Whether there is more room than before.
    private func enlargeStack() -> Bool {
        guard unsafe stack == nil, let larger = unsafe pcre2_jit_stack_create_8(32 << 10, 1 << 20, nil) else {
            return false
        }
        unsafe pcre2_jit_stack_assign_8(context, nil, UnsafeMutableRawPointer(larger))
        unsafe stack = larger
        return true
    }
}
