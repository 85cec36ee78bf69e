/// Changes, told line by line.
enum DiffHighlighter {
    static func highlighted(_ text: String) -> StyledText {
        var result = StyledText()
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if number > 0 { result.append("\n", CodeToken.plain.style) }
            result.append(String(line), token(line).style)
        }
        return result
    }

    private static func token(_ line: Substring) -> CodeToken {
        if line.hasPrefix("@@") || line.hasPrefix("diff ") || line.hasPrefix("index ") { return .comment }
        if line.hasPrefix("+++") || line.hasPrefix("---") { return .keyword }
        if line.hasPrefix("+") { return .added }
        return line.hasPrefix("-") ? .removed : .plain
    }
}
