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
        return TextWidth.wrap(text, to: width).map { line in
            let start = text.utf8.distance(from: text.startIndex, to: line.startIndex)
            return slice(start..<start + line.utf8.count)
        }
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

    /// The part of the text that lies in a range of its UTF-8 bytes.
    private func slice(_ bytes: Range<Int>) -> StyledText {
        var result = StyledText()
        var offset = 0
        for run in runs {
            let all = run.text.utf8
            let wanted = bytes.clamped(to: offset..<offset + all.count)
            if !wanted.isEmpty {
                let start = all.index(all.startIndex, offsetBy: wanted.lowerBound - offset)
                let end = all.index(start, offsetBy: wanted.count)
                result.append(harmless: String(run.text[start..<end]), run.style)
            }
            offset += all.count
        }
        return result
    }
}
