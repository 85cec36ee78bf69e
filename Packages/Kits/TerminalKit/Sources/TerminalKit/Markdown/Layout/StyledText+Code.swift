extension StyledText {
    /// The text without one newline at its end.
    var withoutLastNewline: StyledText {
        guard let last = runs.last, last.text.hasSuffix("\n") else { return self }
        var result = self
        result.removeLastRun()
        result.append(harmless: String(last.text.dropLast()), last.style)
        return result
    }

    /// One line with spaces up to every fourth column instead of tabs.
    var tabsExpanded: StyledText {
        guard runs.contains(where: { $0.text.contains("\t") }) else { return self }
        var result = StyledText()
        var column = 0
        for run in runs {
            for (number, part) in run.text.split(separator: "\t", omittingEmptySubsequences: false).enumerated() {
                if number > 0 {
                    let spaces = 4 - column % 4
                    result.append(harmless: String(repeating: " ", count: spaces), run.style)
                    column += spaces
                }
                result.append(harmless: String(part), run.style)
                column += TextWidth.of(part)
            }
        }
        return result
    }
}
