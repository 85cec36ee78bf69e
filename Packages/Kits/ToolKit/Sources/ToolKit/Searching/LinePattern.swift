import PatternKit

/// A regular expression for searching lines.
///
/// Models write `\d`, `\b` and `(?:…)`, which POSIX expressions do not support.
final class LinePattern: Sendable {
    static let longest = 4096

    let pattern: Pattern
    /// The same for ASCII texts, without Unicode support: up to ten times as fast.
    let plain: Pattern?
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
        var options: Pattern.Options = isLiteral ? .literal : [.unicodeClasses, .anchorsLines, .refusesBytes]
        if ignoresCase { options.insert(.ignoresCase) }
        // Files may contain anything. Invalid UTF-8 never matches. Literal text is searched as bytes.
        if !isLiteral || ignoresCase { options.formUnion([.unicode, .toleratesInvalidText]) }
        do throws(PatternError) {
            pattern = try Pattern(bytes, options)
        } catch {
            throw Self.refusal(error)
        }
        // A pattern with letters beyond ASCII would match their bytes.
        let isPlain = bytes.allSatisfy { $0 < 0x80 } && options.contains(.unicode)
        do throws(PatternError) {
            let plainOptions = options.subtracting([.unicode, .unicodeClasses, .toleratesInvalidText])
            plain = isPlain ? try Pattern(bytes, plainOptions) : nil
        } catch {
            // The pattern needs Unicode.
            plain = nil
        }
    }

    /// Whether lines without the required texts can be skipped.
    func hasRequired(inASCII: Bool) -> Bool {
        run != nil || !required.isEmpty && (inASCII || required.allSatisfy(\.holdsBeyondASCII))
    }

    static func refusal(_ error: PatternError) -> WorkspaceError {
        guard let offset = error.offset else { return WorkspaceError(.system, error.message) }
        return WorkspaceError(
            .pattern,
            "invalid pattern at byte \(offset): \(error.message); fix it, or set literal to search for the literal text"
        )
    }
}

/// The state of one thread for searching with a shared pattern.
struct LineMatcher: ~Copyable {
    /// The maximum number of steps for a line. A reasonable expression takes a few for each byte.
    static let largestEffort: UInt32 = 500_000

    let pattern: LinePattern
    private let matcher: PatternMatcher

    init(_ pattern: LinePattern) throws(WorkspaceError) {
        self.pattern = pattern
        do throws(PatternError) {
            matcher = try PatternMatcher()
        } catch {
            throw LinePattern.refusal(error)
        }
    }

    /// The first match in a part of the bytes. Bytes outside of the part have no influence.
    borrowing func firstMatch(in bytes: Span<UInt8>, _ part: Range<Int>, isASCII: Bool) -> PatternMatch {
        let code = isASCII ? pattern.plain ?? pattern.pattern : pattern.pattern
        return matcher.firstMatch(of: code, in: bytes, part, limit: Self.largestEffort)
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
