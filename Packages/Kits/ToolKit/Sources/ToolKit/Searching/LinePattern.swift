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
