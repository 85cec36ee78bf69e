import CPCRE2

/// What one thread needs to search with a pattern that all threads share.
@safe
struct LineMatcher: ~Copyable {
    /// Steps after which a line is given up; an honest expression takes a few for each byte.
    static let largestEffort: UInt32 = 500_000

    let pattern: LinePattern
    private let data: OpaquePointer
    private let context: OpaquePointer
    private let stack: OpaquePointer

    init(_ pattern: LinePattern) throws(WorkspaceError) {
        guard let data = unsafe pcre2_match_data_create_8(1, nil) else { throw LinePattern.noMemory }
        guard let context = unsafe pcre2_match_context_create_8(nil) else {
            unsafe pcre2_match_data_free_8(data)
            throw LinePattern.noMemory
        }
        guard let stack = unsafe pcre2_jit_stack_create_8(32 << 10, 1 << 20, nil) else {
            unsafe pcre2_match_context_free_8(context)
            unsafe pcre2_match_data_free_8(data)
            throw LinePattern.noMemory
        }
        unsafe pcre2_set_match_limit_8(context, Self.largestEffort)
        // In KiB; for the case that the expression is interpreted.
        unsafe pcre2_set_heap_limit_8(context, 8 << 10)
        unsafe pcre2_jit_stack_assign_8(context, nil, UnsafeMutableRawPointer(stack))
        self.pattern = pattern
        unsafe self.data = data
        unsafe self.context = context
        unsafe self.stack = stack
    }

    deinit {
        unsafe pcre2_match_data_free_8(data)
        unsafe pcre2_match_context_free_8(context)
        unsafe pcre2_jit_stack_free_8(stack)
    }

    enum Outcome: Equatable {
        case none
        case found(Range<Int>)
        /// It took too many steps to tell.
        case gaveUp
    }

    /// The first match in a part of the bytes, which nothing outside of the part has any influence on.
    borrowing func firstMatch(in bytes: Span<UInt8>, _ part: Range<Int>, isASCII: Bool) -> Outcome {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return .none }
            let code = unsafe isASCII ? pattern.plainCode ?? pattern.code : pattern.code
            let result = unsafe pcre2_match_8(code, start + part.lowerBound, part.count, 0, 0, data, context)
            if result == PCRE2_ERROR_NOMATCH { return .none }
            guard result >= 0, let found = unsafe pcre2_get_ovector_pointer_8(data) else { return .gaveUp }
            let (lower, upper) = unsafe (found[0] + part.lowerBound, found[1] + part.lowerBound)
            return .found(lower..<max(lower, upper))
        }
    }

    /// Where the first is of what the pattern requires; nil when there is none in this part.
    ///
    /// `known` holds where each of them was found last, so that a rare one is not looked for again for each line with
    /// another; it is empty at first, and belongs to these bytes.
    borrowing func firstCandidate(in bytes: Span<UInt8>, _ part: Range<Int>, known: inout [Int]) -> Int? {
        if let run = pattern.run { return run.first(in: bytes, part) }
        if known.isEmpty { known = [Int](repeating: -1, count: pattern.required.count) }
        for (index, text) in pattern.required.enumerated() where known[index] < part.lowerBound {
            known[index] = text.first(in: bytes, part) ?? Int.max
        }
        return known.min().flatMap { $0 < part.upperBound ? $0 : nil }
    }
}
