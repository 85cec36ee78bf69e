import Capabilities

/// Finds keywords, strings, comments and numbers in code, in one pass. It parses nothing and rejects nothing.
struct CodeLexer {
    private let code: [UInt8]
    private let language: CodeLanguage
    private var index = 0
    private var result = StyledText()
    /// The start of the plain text that is not in the result yet.
    private var plainStart = 0

    init(_ code: [UInt8], _ language: CodeLanguage) {
        self.code = code
        self.language = language
    }

    mutating func highlighted() -> StyledText {
        while index < code.count {
            if let (end, token) = token() {
                emit(plainStart..<index, .plain)
                emit(index..<end, token)
                index = end
                plainStart = end
            } else {
                // Words are taken whole, so that nothing is found inside of them.
                index = max(index + 1, wordEnd(from: index))
            }
        }
        emit(plainStart..<index, .plain)
        return result
    }

    private mutating func emit(_ range: Range<Int>, _ token: CodeToken) {
        guard !range.isEmpty else { return }
        result.append(String(decoding: code[range], as: UTF8.self), token.style)
    }

    /// The token that begins here, unless it is plain.
    private func token() -> (end: Int, CodeToken)? {
        let byte = code[index]
        if byte <= UInt8(ascii: " ") { return nil }
        if let end = commentEnd() { return (end, .comment) }
        if let quote = language.quotes.first(where: { starts(with: $0.open, at: index) }) {
            return quoteEnd(quote).map { ($0, isKey(behind: $0) ? .keyword : .string) }
        }
        if byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") { return (numberEnd(), .number) }
        if byte == UInt8(ascii: "#") && language.hasDirectives && isLineStart {
            return (wordEnd(from: index + 1), .keyword)
        }
        let end = wordEnd(from: index)
        guard end > index else { return nil }
        let word = String(decoding: code[index..<end], as: UTF8.self)
        let isKeyword = language.keywords.contains(language.ignoresCase ? word.lowercased() : word)
        return isKeyword || isKey(behind: end) ? (end, .keyword) : nil
    }
}

// MARK: - Where things end

extension CodeLexer {
    private func commentEnd() -> Int? {
        if language.hasBlockComments && starts(with: Array("/*".utf8), at: index) {
            var end = index + 2
            while end < code.count && !starts(with: Array("*/".utf8), at: end) { end += 1 }
            return min(code.count, end + 2)
        }
        if language.commentsFollowSpace && index > 0 && code[index - 1] > UInt8(ascii: " ") { return nil }
        guard language.lineComments.contains(where: { starts(with: Array($0.utf8), at: index) }) else { return nil }
        return code[index...].firstIndex(of: 0x0A) ?? code.count
    }

    private func quoteEnd(_ quote: CodeLanguage.Quote) -> Int? {
        var end = index + quote.open.count
        let limit = quote.isCharacter ? min(code.count, end + 12) : code.count
        var characters = 0
        while end < limit {
            if starts(with: quote.close, at: end) { return end + quote.close.count }
            if code[end] == 0x0A && !quote.spansLines { break }
            if code[end] & 0xC0 != 0x80 { characters += 1 }
            if quote.isCharacter && characters > 1 && code[index + 1] != UInt8(ascii: "\\") { return nil }
            end += quote.hasEscapes && code[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        // An unclosed quote is either plain text or continues to the end.
        return quote.isCharacter ? nil : min(end, code.count)
    }

    private func numberEnd() -> Int {
        var end = index
        while end < code.count, isWord(code[end]) || code[end] == UInt8(ascii: ".") {
            // `1...9` is two numbers.
            if code[end] == UInt8(ascii: ".") && end + 1 < code.count && code[end + 1] == UInt8(ascii: ".") { break }
            end += 1
        }
        return end
    }

    private func wordEnd(from start: Int) -> Int {
        var end = start
        let allowsHyphen = language.hasKeys
        while end < code.count, isWord(code[end]) || allowsHyphen && end > start && code[end] == UInt8(ascii: "-") {
            end += 1
        }
        return end
    }

    private func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }

    private func isKey(behind end: Int) -> Bool {
        language.hasKeys && end < code.count && code[end] == UInt8(ascii: ":")
            && (end + 1 == code.count || code[end + 1] != UInt8(ascii: "/"))
    }

    private var isLineStart: Bool { index == 0 || code[index - 1] == 0x0A }

    private func starts(with text: [UInt8], at place: Int) -> Bool {
        guard place + text.count <= code.count else { return false }
        for offset in text.indices where code[place + offset] != text[offset] { return false }
        return true
    }
}

/// The kind of a piece of code, for its colour.
enum CodeToken {
    case plain, keyword, string, comment, number, added, removed

    var style: Style {
        switch self {
        case .plain: Style(.cardForeground)
        case .keyword: Style(.keyword)
        case .string: Style(.string)
        case .comment: Style(.comment, italic: true)
        case .number: Style(.number)
        case .added: Style(.added)
        case .removed: Style(.removed)
        }
    }
}

/// Changes, marked line by line.
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
