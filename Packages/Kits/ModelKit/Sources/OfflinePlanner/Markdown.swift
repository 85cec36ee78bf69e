/// Embeds text in Markdown so that none of it acts as markup.
enum Markdown {
    /// Inline code, on one line and shortened.
    static func code(_ text: String, limit: Int = 160) -> String {
        var line = String(text.map { $0.isNewline ? " " : $0 })
        while line.first?.isWhitespace == true { line.removeFirst() }
        while line.last?.isWhitespace == true { line.removeLast() }
        if line.count > limit { line = line.prefix(limit) + "…" }
        let fence = String(repeating: "`", count: longestRun(in: line) + 1)
        let space = line.first == "`" || line.last == "`" || line.isEmpty ? " " : ""
        return fence + space + line + space + fence
    }

    /// A block of code, whose fence is longer than any in it.
    static func block(_ text: String, _ language: String = "") -> String {
        let fence = String(repeating: "`", count: max(3, longestRun(in: text) + 1))
        return "\(fence)\(language)\n\(text)\(text.last?.isNewline == true ? "" : "\n")\(fence)"
    }

    static func quote(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { "> \($0)" }.joined(separator: "\n")
    }

    /// "1 line", "3 lines"
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(plural ?? noun + "s")"
    }

    private static func longestRun(in text: String) -> Int {
        var (longest, run) = (0, 0)
        for character in text.utf8 {
            run = character == 0x60 ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }
}
