import CPCRE2
import Capabilities

/// An expression that lines are searched for, compiled by PCRE2.
///
/// Models write `\d`, `\b` and `(?:…)`, which POSIX expressions do not have. As important is what PCRE2 bounds: an
/// expression is compiled into a limited size, and gives up after a number of steps. glibc's regcomp takes gigabytes for
/// a few nested repetitions, and nothing stops regexec.
@safe
final class LinePattern: Sendable {
    static let longest = 4096

    // Safe to be shared: "The data in the compiled pattern is fixed, and does not change when the pattern is matched.
    // Therefore, it is thread-safe, that is, the same compiled pattern can be used by more than one thread."
    nonisolated(unsafe) let code: OpaquePointer
    /// The same for texts in ASCII, where nothing has to be known of Unicode: up to ten times as fast.
    nonisolated(unsafe) let plainCode: OpaquePointer?
    /// Whether one search through many lines finds all that a search line by line finds.
    let canSpanLines: Bool
    /// Each line that fits has one of these in it; empty where nothing is known.
    let required: [TextSearch]
    /// Each line that fits has this in it, where there are no texts.
    let run: ByteRun?

    init(_ text: String, isLiteral: Bool, ignoresCase: Bool) throws(WorkspaceError) {
        // What comes after this flag can be known as well as without it.
        let hasFlag = !isLiteral && text.hasPrefix("(?i)")
        let (bytes, ignoresCase) = (Array(text.utf8.dropFirst(hasFlag ? 4 : 0)), ignoresCase || hasFlag)
        guard !bytes.isEmpty, bytes.count <= Self.longest else {
            throw WorkspaceError(.pattern, "the pattern is empty or longer than \(Self.longest) bytes; use another one")
        }
        let shape = PatternShape(bytes, isLiteral: isLiteral)
        guard !shape.hasLineBreak else {
            throw WorkspaceError(
                .pattern, "a line break is never found, for lines are searched one by one; search for one of the lines")
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
        // A file may hold anything: what is no UTF-8 is never part of a match. Literal text is found by its bytes.
        if !isLiteral || ignoresCase { options |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF }
        if !isLiteral { options |= PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C }
        unsafe code = try Self.compile(bytes, options)
        // One that names letters beyond ASCII would look for their bytes.
        let isPlain = bytes.allSatisfy { $0 < 0x80 } && options & PCRE2_UTF != 0
        let plainOptions = options & ~(PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF)
        do throws(WorkspaceError) {
            unsafe plainCode = isPlain ? try Self.compile(bytes, plainOptions) : nil
        } catch {
            // It asks for what only Unicode has.
            unsafe plainCode = nil
        }
    }

    private static func compile(_ bytes: [UInt8], _ options: UInt32) throws(WorkspaceError) -> OpaquePointer {
        var failure: Int32 = 0
        var offset = 0
        guard let context = unsafe pcre2_compile_context_create_8(nil) else { throw Self.noMemory }
        defer { unsafe pcre2_compile_context_free_8(context) }
        // Otherwise `$` would not fit before the end of a line that was written on Windows.
        unsafe pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_ANYCRLF))
        guard let code = unsafe pcre2_compile_8(bytes, bytes.count, options, &failure, &offset, context) else {
            throw Self.refusal(failure, at: offset)
        }
        // Where the system allows no code to be made at run time, the expression is interpreted.
        _ = unsafe pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE)
        return unsafe code
    }

    deinit {
        unsafe pcre2_code_free_8(code)
        unsafe pcre2_code_free_8(plainCode)
    }

    /// Whether lines without what is required need not be looked at.
    func hasRequired(inASCII: Bool) -> Bool {
        run != nil || !required.isEmpty && (inASCII || required.allSatisfy(\.holdsBeyondASCII))
    }

    static let noMemory = WorkspaceError(.system, "there is no memory to search; try again later")

    private static func refusal(_ failure: Int32, at offset: Int) -> WorkspaceError {
        var text = [UInt8](repeating: 0, count: 256)
        let length = unsafe pcre2_get_error_message_8(failure, &text, text.count)
        let words = length > 0 ? String(decoding: text.prefix(Int(length)), as: UTF8.self) : "error \(failure)"
        return WorkspaceError(
            .pattern,
            "the pattern cannot be understood at byte \(offset): \(PlainText.escape(words)); mend it, or set literal to"
                + " search for the text as it is")
    }

    /// The version of the library in use, such as `10.42 2022-12-11`.
    static var libraryVersion: String {
        var text = [UInt8](repeating: 0, count: 64)
        let length = unsafe pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), &text)
        return String(decoding: text.prefix(Int(max(1, length)) - 1), as: UTF8.self)
    }
}

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

/// What can be said about an expression from its text alone.
///
/// To look for a candidate in many lines at once is several times as fast as to ask for each line. It may miss a line
/// only where an expression can refuse a line for what stands in another one: by looking around, by never giving back
/// what it took, or by asking for the very beginning or end. All these are recognised generously.
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
                // In a set it is most often excluded, which changes nothing.
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
