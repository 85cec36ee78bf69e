public import Capabilities

/// Text with styled parts. Control characters in it are neutralised when it is created.
///
///     let line = StyledText("web1 ", Style(bold: true)) + StyledText("failed", Style(.destructive))
///     let bytes = line.bytes(level: .ansi256)
public struct StyledText: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// A piece of text in one style.
    public struct Run: Sendable, Hashable {
        /// The text, already harmless to a terminal.
        public internal(set) var text: String
        /// Its style.
        public let style: Style

        init(harmless text: String, style: Style) {
            self.text = text
            self.style = style
        }
    }

    /// The pieces in order, none of them empty.
    public private(set) var runs: [Run] = []

    /// `text` in one style.
    public init(_ text: String = "", _ style: Style = .plain) {
        append(harmless: Sanitizer.sanitize(text), style)
    }

    /// A literal in plain style; interpolated text is neutralised as well.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// Adds `text` at the end.
    public mutating func append(_ text: String, _ style: Style = .plain) {
        append(harmless: Sanitizer.sanitize(text), style)
    }

    /// Adds `other` at the end.
    public mutating func append(_ other: StyledText) {
        for run in other.runs { append(harmless: run.text, run.style) }
    }

    /// Both texts, one after the other.
    public static func + (left: StyledText, right: StyledText) -> StyledText {
        var result = left
        result.append(right)
        return result
    }

    /// The text without its styles.
    public var plainText: String {
        if runs.count == 1 { return runs[0].text }
        var text = ""
        for run in runs { text += run.text }
        return text
    }

    /// Whether there is no text.
    public var isEmpty: Bool { runs.isEmpty }

    /// The columns that the text takes on one line.
    public var width: Int { runs.reduce(0) { $0 + TextWidth.of($1.text) } }

    private mutating func removeLastRun() { runs.removeLast() }

    mutating func append(harmless text: String, _ style: Style) {
        guard !text.isEmpty else { return }
        if let last = runs.last, last.style == style {
            // In place: text that arrives in many small pieces is not copied for each of them.
            runs[runs.count - 1].text += text
        } else {
            runs.append(Run(harmless: text, style: style))
        }
    }
}

extension StyledText {
    /// The text without one newline at its end.
    var withoutLastNewline: StyledText {
        guard let last = runs.last, last.text.hasSuffix("\n") else { return self }
        var result = self
        result.removeLastRun()
        result.append(harmless: String(last.text.dropLast()), last.style)
        return result
    }

    /// One line, with tabs replaced by spaces up to every fourth column.
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

    /// The text without its first `count` characters.
    func dropping(first count: Int) -> StyledText {
        guard count > 0 else { return self }
        var rest = StyledText()
        var left = count
        for run in runs {
            let dropped = run.text.dropFirst(left)
            left = max(0, left - run.text.count)
            rest.append(harmless: String(dropped), run.style)
        }
        return rest
    }
}

extension StyledText {
    /// The text itself if it fits `width` columns, otherwise as much as fits before an ellipsis.
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

    /// The part of a line that is seen in a window of so many columns, for text that is read sideways. An ellipsis at an
    /// edge says that there is more beyond it. A wide character at an edge is a space there, so that no half of it is
    /// drawn.
    ///
    /// - Parameter start: the first column of the window; 0 is the beginning of the line.
    public func window(from start: Int, columns: Int, mark: Style = Style(.mutedForeground)) -> StyledText {
        let width = self.width
        guard columns > 0, start > 0 || width > columns else { return columns > 0 ? self : StyledText() }
        let isCutLeft = start > 0 && width > 0
        // A single column has room for one mark.
        let isCutRight = width > start + columns && !(isCutLeft && columns == 1)
        let seen =
            start + (isCutLeft ? 1 : 0)..<max(start + columns - (isCutRight ? 1 : 0), start + (isCutLeft ? 1 : 0))
        var result = StyledText()
        if isCutLeft { result.append(harmless: "…", mark) }
        result.append(slice(seen))
        if isCutRight { result.append(harmless: "…", mark) }
        return result
    }

    /// The text in some columns. A wide character of which only one half is there is a space.
    private func slice(_ seen: Range<Int>) -> StyledText {
        var result = StyledText()
        var column = 0
        for run in runs where column < seen.upperBound {
            let text = run.text
            if TextWidth.isSimple(text.utf8.span) {
                let count = text.utf8.count
                let first = min(count, max(0, seen.lowerBound - column))
                let start = text.utf8.index(text.startIndex, offsetBy: first)
                let end = text.utf8.index(start, offsetBy: max(0, min(count, seen.upperBound - column) - first))
                result.append(harmless: String(text[start..<end]), run.style)
                column += count
                continue
            }
            var part = ""
            for character in text {
                guard column < seen.upperBound else { break }
                let columns = column..<column + TextWidth.of(character)
                let shown = columns.clamped(to: seen)
                if shown == columns && column >= seen.lowerBound {
                    part.append(character)
                } else {
                    part += String(repeating: " ", count: shown.count)
                }
                column = columns.upperBound
            }
            result.append(harmless: part, run.style)
        }
        return result
    }

    /// The text padded with spaces to `width` columns; longer text is not changed.
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

    /// The text cut into lines for code, whose spaces count: after a space or else a mark, and inside a word only if
    /// that would otherwise leave more than half of the line empty.
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

    /// The styled parts for `parts` of `text`, which is the plain text of this; in one pass over the runs.
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
                // A run that continues after this part is needed for the next one.
                if offset + all.count > range.upperBound { break }
                offset += all.count
                number += 1
            }
            return result
        }
    }
}

extension StyledText {
    /// The bytes of the text for a terminal of `level`. Every escape sequence of styled text is created here.
    public func bytes(level: ColorLevel, theme: Theme = .dark) -> [UInt8] {
        Array(rendered(level: level, theme: theme).utf8)
    }

    /// The same as ``bytes(level:theme:)``, as a string.
    public func rendered(level: ColorLevel, theme: Theme = .dark) -> String {
        guard level != .none else { return plainText }
        var output = ""
        var link: LinkTarget?
        for run in runs {
            if run.style.link != link {
                link = run.style.link
                output += Self.hyperlink(link)
            }
            let parameters = run.style.parameters(level: level, theme: theme)
            output += parameters.isEmpty ? run.text : "\u{1B}[\(parameters)m\(run.text)\u{1B}[0m"
        }
        return link == nil ? output : output + Self.hyperlink(nil)
    }

    /// "Operating system command" 8: the following text links to `target`, or no longer to anything.
    private static func hyperlink(_ target: LinkTarget?) -> String { "\u{1B}]8;;\(target?.address ?? "")\u{1B}\\" }
}
