/// Knows at each byte of a Markdown text whether it is inside of code: a fenced block, or backticks within one line.
///
/// Backticks that are not closed on their line are taken as code up to its end, because nobody can wait for the rest.
struct CodeSpans {
    private var fence: (mark: UInt8, count: Int)?
    /// How many backticks have opened the code of this line.
    private var inline = 0
    /// Equal marks that have just come.
    private var run: (mark: UInt8, count: Int, beginsLine: Bool)?
    /// How many spaces the line has had; nil when something else has come.
    private var indent: Int? = 0
    /// On the line that opens a fence.
    private var isInfoLine = false
    /// On a line that closes the fence, if nothing more comes.
    private var isClosing = false

    private static let backtick = UInt8(ascii: "`")
    private static let tilde = UInt8(ascii: "~")

    /// Whether what comes next is code. Ends a run of marks, so that it has to be asked only before something else.
    mutating func isCode() -> Bool {
        endRun()
        return fence != nil || inline > 0
    }

    mutating func receive(_ byte: UInt8) {
        if byte == Self.backtick || byte == Self.tilde {
            if run?.mark == byte {
                run?.count += 1
                return
            }
            endRun()
            run = (byte, 1, indent != nil)
            indent = nil
            return
        }
        endRun()
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): endLine()
        case UInt8(ascii: " "): indent = indent.flatMap { $0 < 3 ? $0 + 1 : nil }
        case UInt8(ascii: "\t"): indent = nil
        default:
            indent = nil
            isClosing = false
        }
    }

    private mutating func endLine() {
        if isClosing { fence = nil }
        (isClosing, isInfoLine, inline, indent) = (false, false, 0, 0)
    }

    private mutating func endRun() {
        guard let run else { return }
        self.run = nil
        if let fence {
            if isInfoLine, run.mark == Self.backtick, fence.mark == Self.backtick {
                // "Info strings for backtick code blocks cannot contain backticks": this was code within the line.
                (self.fence, isInfoLine, inline) = (nil, false, fence.count)
                closeInline(run.count)
            } else {
                isClosing = run.beginsLine && run.mark == fence.mark && run.count >= fence.count
            }
        } else if run.beginsLine, run.count >= 3, inline == 0 {
            fence = (run.mark, run.count)
            isInfoLine = true
        } else if run.mark == Self.backtick {
            if inline == 0 { inline = run.count } else { closeInline(run.count) }
        }
    }

    private mutating func closeInline(_ count: Int) {
        if inline == count { inline = 0 }
    }
}
