import CPCRE2
import Capabilities

/// A regular expression for searching lines, compiled by PCRE2.
///
/// Models write `\d`, `\b` and `(?:…)`, which POSIX expressions do not support. PCRE2 also has limits: the compiled
/// size is limited, and matching stops after a number of steps. glibc's regcomp takes gigabytes for a few nested
/// repetitions, and regexec cannot be stopped.
@safe
final class LinePattern: Sendable {
    static let longest = 4096

    // Safe to be shared: "The data in the compiled pattern is fixed, and does not change when the pattern is matched.
    // Therefore, it is thread-safe, that is, the same compiled pattern can be used by more than one thread."
    nonisolated(unsafe) let code: OpaquePointer
    /// The same for ASCII texts, without Unicode support: up to ten times as fast.
    nonisolated(unsafe) let plainCode: OpaquePointer?
    /// Whether one search over many lines finds everything that a search line by line finds.
    let canSpanLines: Bool
    /// Each matching line contains one of these texts; empty if none are known.
    let required: [TextSearch]
    /// Each matching line contains this run, if there are no texts.
    let run: ByteRun?

    init(_ text: String, isLiteral: Bool, ignoresCase: Bool) throws(WorkspaceError) {
        // The rest after this flag can be analysed as without it.
        let hasFlag = !isLiteral && text.hasPrefix("(?i)")
        let (bytes, ignoresCase) = (Array(text.utf8.dropFirst(hasFlag ? 4 : 0)), ignoresCase || hasFlag)
        guard !bytes.isEmpty, bytes.count <= Self.longest else {
            throw WorkspaceError(.pattern, "the pattern is empty or longer than \(Self.longest) bytes; use another one")
        }
        let shape = PatternShape(bytes, isLiteral: isLiteral)
        guard !shape.hasLineBreak else {
            throw WorkspaceError(
                .pattern, "lines are searched one by one, so a line break never matches; search for one of the lines")
        }
        canSpanLines = shape.canSpanLines
        let known = isLiteral ? nil : RequiredText(of: bytes, ignoringCase: ignoresCase)
        let texts = known?.texts ?? [bytes]
        let canBeFound = texts.allSatisfy {
            $0.count >= RequiredText.shortest && TextSearch.canFind($0, ignoringCase: ignoresCase)
        }
        required = canBeFound ? texts.map { TextSearch($0, ignoringCase: ignoresCase) } : []
        run = known?.run
        var options: UInt32 = 0
        if isLiteral { options |= PCRE2_LITERAL }
        if ignoresCase { options |= PCRE2_CASELESS }
        // Files may contain anything. Invalid UTF-8 never matches. Literal text is searched as bytes.
        if !isLiteral || ignoresCase { options |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF }
        if !isLiteral { options |= PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C }
        unsafe code = try Self.compile(bytes, options)
        // A pattern with letters beyond ASCII would match their bytes.
        let isPlain = bytes.allSatisfy { $0 < 0x80 } && options & PCRE2_UTF != 0
        let plainOptions = options & ~(PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF)
        do throws(WorkspaceError) {
            unsafe plainCode = isPlain ? try Self.compile(bytes, plainOptions) : nil
        } catch {
            // The pattern needs Unicode.
            unsafe plainCode = nil
        }
    }

    private static func compile(_ bytes: [UInt8], _ options: UInt32) throws(WorkspaceError) -> OpaquePointer {
        var failure: Int32 = 0
        var offset = 0
        guard let context = unsafe pcre2_compile_context_create_8(nil) else { throw Self.noMemory }
        defer { unsafe pcre2_compile_context_free_8(context) }
        // Otherwise `$` would not match before a CR LF.
        unsafe pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_ANYCRLF))
        guard let code = unsafe pcre2_compile_8(bytes, bytes.count, options, &failure, &offset, context) else {
            throw Self.refusal(failure, at: offset)
        }
        // If the system does not allow JIT compilation, the expression is interpreted.
        _ = unsafe pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE)
        return unsafe code
    }

    deinit {
        unsafe pcre2_code_free_8(code)
        unsafe pcre2_code_free_8(plainCode)
    }

    /// Whether lines without the required texts can be skipped.
    func hasRequired(inASCII: Bool) -> Bool {
        run != nil || !required.isEmpty && (inASCII || required.allSatisfy(\.holdsBeyondASCII))
    }

    static let noMemory = WorkspaceError(.system, "out of memory; try again later")

    private static func refusal(_ failure: Int32, at offset: Int) -> WorkspaceError {
        var text = [UInt8](repeating: 0, count: 256)
        let length = unsafe pcre2_get_error_message_8(failure, &text, text.count)
        let words = length > 0 ? String(decoding: text.prefix(Int(length)), as: UTF8.self) : "error \(failure)"
        return WorkspaceError(
            .pattern,
            "invalid pattern at byte \(offset): \(PlainText.escape(words)); fix it, or set literal to"
                + " search for the literal text")
    }

    /// The version of the library, such as `10.42 2022-12-11`.
    static var libraryVersion: String {
        var text = [UInt8](repeating: 0, count: 64)
        let length = unsafe pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), &text)
        return String(decoding: text.prefix(Int(max(1, length)) - 1), as: UTF8.self)
    }
}

/// The state of one thread for searching with a shared pattern.
@safe
struct LineMatcher: ~Copyable {
    /// The maximum number of steps for a line. A reasonable expression takes a few for each byte.
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
        // In KiB, if the expression is interpreted.
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
        /// Matching took too many steps.
        case gaveUp
    }

    /// The first match in a part of the bytes. Bytes outside of the part have no influence.
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

    /// The first place of a required text or run; nil if this part has none.
    ///
    /// `known` stores the last place of each text, so that a rare one is not searched again for each line with another.
    /// It is empty at first, and belongs to these bytes.
    borrowing func firstCandidate(in bytes: Span<UInt8>, _ part: Range<Int>, known: inout [Int]) -> Int? {
        if let run = pattern.run { return run.first(in: bytes, part) }
        if known.isEmpty { known = [Int](repeating: -1, count: pattern.required.count) }
        for (index, text) in pattern.required.enumerated() where known[index] < part.lowerBound {
            known[index] = text.first(in: bytes, part) ?? Int.max
        }
        return known.min().flatMap { $0 < part.upperBound ? $0 : nil }
    }
}

/// Properties of an expression, derived from its text alone.
///
/// Searching many lines at once for a candidate is several times as fast as testing each line. It may miss a line only
/// if an expression can reject a line because of another line: by lookaround, possessive matching, or anchors to the
/// very beginning or end. All these are detected generously.
struct PatternShape {
    private(set) var canSpanLines = true
    private(set) var hasLineBreak = false

    init(_ pattern: [UInt8], isLiteral: Bool) {
        hasLineBreak = pattern.contains(Byte.newline)
        if isLiteral { return }
        var last: UInt8 = 0
        var isInSet = false
        var place = 0
        while place < pattern.count {
            let byte = pattern[place]
            let next = place + 1 < pattern.count ? pattern[place + 1] : 0
            switch byte {
            case Byte.backslash:
                // In a set it is usually excluded, which changes nothing.
                if next == UInt8(ascii: "n"), !isInSet { hasLineBreak = true }
                if "AzZGKXRQEkgrxo0123456789".utf8.contains(next) { canSpanLines = false }
                place += 1
                last = 0
            case UInt8(ascii: "("):
                let after = place + 2 < pattern.count ? pattern[place + 2] : 0
                if next == UInt8(ascii: "*") || next == UInt8(ascii: "?") && after != UInt8(ascii: ":") {
                    canSpanLines = false
                }
                last = 0
            case UInt8(ascii: "+") where "*+?}".utf8.contains(last):
                canSpanLines = false
            default:
                if byte == UInt8(ascii: "[") { isInSet = true }
                if byte == UInt8(ascii: "]") { isInSet = false }
                last = byte
            }
            place += 1
        }
    }
}
