import CPCRE2

/// A regular expression, compiled by PCRE2, which many threads may use at once.
///
/// PCRE2 has the limits that expressions of others need: the compiled size is at most 64 KiB, and a `PatternMatcher` stops
/// after a number of steps. glibc's regcomp takes gigabytes for a few nested repetitions, and regexec cannot be stopped.
///
/// ```swift
/// let pattern = try Pattern(Array("^[a-z]+$".utf8), [.unicode])
/// let matcher = try PatternMatcher()
/// matcher.firstMatch(of: pattern, in: "word", limit: 10_000)   // .found(0..<4)
/// ```
@safe
public final class Pattern: Sendable {
    /// How an expression is read and matched.
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The expression is a text to be found as it is.
        public static let literal = Options(rawValue: PCRE2_LITERAL)
        /// Upper and lower case are the same.
        public static let ignoresCase = Options(rawValue: PCRE2_CASELESS)
        /// Expression and text are UTF-8; a dot matches a scalar instead of a byte.
        public static let unicode = Options(rawValue: PCRE2_UTF)
        /// Bytes that are not UTF-8 match nothing, instead of being an error.
        public static let toleratesInvalidText = Options(rawValue: PCRE2_MATCH_INVALID_UTF)
        /// `\d`, `\w`, `\s` and `\b` are about Unicode and not about ASCII.
        public static let unicodeClasses = Options(rawValue: PCRE2_UCP)
        /// `^` and `$` match at each line.
        public static let anchorsLines = Options(rawValue: PCRE2_MULTILINE)
        /// `$` matches only at the very end, and not before a final line break.
        public static let endsAtEnd = Options(rawValue: PCRE2_DOLLAR_ENDONLY)
        /// `\C`, a single byte of a character, is refused.
        public static let refusesBytes = Options(rawValue: PCRE2_NEVER_BACKSLASH_C)
        /// A reference to a group that has matched nothing matches the empty text.
        public static let emptyUnsetGroups = Options(rawValue: PCRE2_MATCH_UNSET_BACKREF)
    }

    // Safe to be shared: "The data in the compiled pattern is fixed, and does not change when the pattern is matched.
    // Therefore, it is thread-safe, that is, the same compiled pattern can be used by more than one thread."
    nonisolated(unsafe) let code: OpaquePointer
    /// The bytes of memory that the expression takes, without its machine code.
    public let size: Int
    /// Whether it can only match at the beginning of a text.
    public let isAnchored: Bool

    /// Compiles an expression.
    public init(_ bytes: [UInt8], _ options: Options = []) throws(PatternError) {
        var failure: Int32 = 0
        var offset = 0
        guard let context = unsafe pcre2_compile_context_create_8(nil) else { throw .memory }
        defer { unsafe pcre2_compile_context_free_8(context) }
        // Otherwise `$` would not match before a CR LF.
        unsafe pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_ANYCRLF))
        guard let code = unsafe pcre2_compile_8(bytes, bytes.count, options.rawValue, &failure, &offset, context) else {
            throw .refusal(failure, at: offset)
        }
        // If the system does not allow JIT compilation, the expression is interpreted.
        _ = unsafe pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE)
        var (size, all) = (0, UInt32(0))
        _ = unsafe pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_SIZE), &size)
        _ = unsafe pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_ALLOPTIONS), &all)
        unsafe self.code = code
        self.size = size
        isAnchored = all & PCRE2_ANCHORED != 0
    }

    deinit {
        unsafe pcre2_code_free_8(code)
    }

    /// The version of the library, such as `10.42 2022-12-11`.
    public static var libraryVersion: String {
        var text = [UInt8](repeating: 0, count: 64)
        let length = unsafe pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), &text)
        return String(decoding: text.prefix(Int(max(1, length)) - 1), as: UTF8.self)
    }
}
