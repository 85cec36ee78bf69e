extension StyledText {
    /// The text itself when it fits `width` columns, else as much as fits before an ellipsis.
    public func truncated(to width: Int) -> StyledText {
        guard self.width > width else { return self }
        guard width > 0 else { return StyledText() }
        var result = StyledText()
        var room = width - 1
        for run in runs {
            let part = TextWidth.prefix(of: run.text, width: room)
            result.append(harmless: part, run.style)
            if part.utf8.count < run.text.utf8.count {
                result.append(harmless: "…", run.style)
                return result
            }
            room -= TextWidth.of(part)
        }
        return result
    }

    /// The text with spaces added up to `width` columns; longer text stays as it is.
    public func padded(to width: Int, alignment: TextAlignment = .leading) -> StyledText {
        let missing = width - self.width
        guard missing > 0 else { return self }
        let padding = StyledText(String(repeating: " ", count: missing))
        return alignment == .leading ? self + padding : padding + self
    }

    /// The text cut into lines of at most `width` columns, by the rules of ``TextWidth/wrap(_:to:)``.
    public func wrapped(to width: Int) -> [StyledText] {
        let text = plainText
        return slices(TextWidth.wrap(text, to: width), of: text)
    }

    /// The text cut into lines for code, whose spaces count: behind a space or else a mark, inside a word only where
    /// that would leave more than half of the line empty.
    func folded(to width: Int) -> [StyledText] {
        let text = plainText
        guard TextWidth.of(text) > width else { return [self] }
        var lines: [Substring] = []
        var start = text.startIndex
        var used = 0
        // Where the line may end, and how much of it is used there.
        typealias Place = (index: String.Index, used: Int)
        var (space, mark): (Place?, Place?) = (nil, nil)
        for index in text.indices {
            let character = text[index]
            let columns = TextWidth.of(character)
            if used + columns > width && index > start {
                let places = [space, mark].compactMap { $0 }
                let end = places.first { $0.used * 2 > width } ?? (index, used)
                lines.append(text[start..<end.index])
                start = end.index
                used -= end.used
                (space, mark) = (nil, nil)
            }
            used += columns
            let next = text.index(after: index)
            if character == " " {
                space = (next, used)
            } else if !character.isLetter && !character.isNumber && character != "_" {
                mark = (next, used)
            }
        }
        lines.append(text[start...])
        return slices(lines, of: text)
    }

    /// The text without spaces at its end.
    var withoutTrailingSpaces: StyledText {
        var result = self
        while let last = result.runs.last, last.text.hasSuffix(" ") {
            let kept = last.text.reversed().drop { $0 == " " }
            result.removeLastRun()
            result.append(harmless: String(kept.reversed()), last.style)
        }
        return result
    }

    /// The text on one line: line endings and tabs become single spaces.
    var singleLine: StyledText {
        var result = StyledText()
        for run in runs {
            let isPlainLine = !run.text.contains { $0.isNewline || $0 == "\t" }
            let text = isPlainLine ? run.text : String(run.text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
            result.append(harmless: text, run.style)
        }
        return result
    }

    /// The styled parts that stand where `parts` stand in `text`, the plain text of this; in one pass over the runs.
    private func slices(_ parts: [Substring], of text: String) -> [StyledText] {
        var number = 0
        var offset = 0
        return parts.map { part in
            let start = text.utf8.distance(from: text.startIndex, to: part.startIndex)
            let range = start..<start + part.utf8.count
            var result = StyledText()
            while number < runs.count {
                let all = runs[number].text.utf8
                let wanted = range.clamped(to: offset..<offset + all.count)
                if !wanted.isEmpty {
                    let first = all.index(all.startIndex, offsetBy: wanted.lowerBound - offset)
                    let end = all.index(first, offsetBy: wanted.count)
                    result.append(harmless: String(runs[number].text[first..<end]), runs[number].style)
                }
                // A run that goes on behind this part is needed for the next one.
                if offset + all.count > range.upperBound { break }
                offset += all.count
                number += 1
            }
            return result
        }
    }
}
