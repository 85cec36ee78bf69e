/// A text with a cursor between two of its characters; nothing in it commands a terminal.
///
/// A long text that comes at once, such as a paste, is folded into one character, which is shown as a few words.
struct EditedText: Equatable, Sendable {
    /// Pastes of more lines are folded.
    static let longPaste = 20
    /// Texts of the history of more lines are; shorter ones a person may have written and want to change.
    static let longRecall = 200
    /// So much on one line is as long as many.
    private static let longLine = 200

    private(set) var characters: [Character] = []
    private(set) var cursor = 0
    private(set) var byteCount = 0
    /// What the characters stand for that are none themselves.
    private var folded: [Character: String] = [:]

    /// A text with the cursor behind it; folded, if it has more lines than `limit`.
    init(_ text: String = "", folding limit: Int = .max) {
        insert(text, folding: limit)
    }

    var text: String { expanded(characters[...]) }
    var isEmpty: Bool { characters.isEmpty }

    /// What is shown of a character that stands for a text.
    func label(of character: Character) -> String? {
        guard !folded.isEmpty, let text = folded[character] else { return nil }
        let lines = Self.lineCount(text)
        let count = lines > 1 ? "\(Self.grouped(lines)) lines" : "\(Self.grouped(text.utf8.count)) bytes"
        return "[Pasted text, \(count)]"
    }

    /// Puts `text` before the cursor; it may become one character with what stands beside it.
    ///
    /// With more lines than `limit` it is folded.
    mutating func insert(_ text: String, folding limit: Int = .max) {
        var text = Sanitizer.sanitize(text)
        guard !text.isEmpty else { return }
        // Only what is folded begins with it.
        if text.unicodeScalars.contains(Self.foldMark) {
            text = String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == Self.foldMark ? "\u{FFFD}" : $0 }))
        }
        byteCount += text.utf8.count
        if limit < .max, Self.lineCount(text) > limit || text.utf8.count > limit * Self.longLine {
            let character = Self.fold(folded.count)
            folded[character] = text
            characters.insert(character, at: cursor)
            cursor += 1
            return
        }
        // A folded text joins nothing.
        let start = cursor > 0 && folded[characters[cursor - 1]] == nil ? cursor - 1 : cursor
        let end = cursor < characters.count && folded[characters[cursor]] == nil ? cursor + 1 : cursor
        let after = characters[cursor..<end]
        let before = Array(String(characters[start..<cursor]) + text)
        let joined = after.isEmpty ? before : Array(String(before) + String(after))
        characters.replaceSubrange(start..<end, with: joined)
        cursor = start + (joined.count > before.count ? before.count : joined.count)
    }

    /// Takes away the characters of `range` and gives them; the cursor is then where they were.
    @discardableResult
    mutating func remove(_ range: Range<Int>) -> String {
        guard !range.isEmpty else { return "" }
        let removed = expanded(characters[range])
        characters.removeSubrange(range)
        byteCount -= removed.utf8.count
        cursor = range.lowerBound
        return removed
    }

    mutating func move(to place: Int) { cursor = min(characters.count, max(0, place)) }

    /// Whether the cursor is behind the last character.
    var isAtEnd: Bool { cursor == characters.count }
}

// MARK: Folded texts

extension EditedText {
    private static let foldMark: Unicode.Scalar = "\u{FFFC}"

    /// The character for the folded text of that number: a mark, and the number in variation selectors, which join it.
    private static func fold(_ number: Int) -> Character {
        var scalars = String.UnicodeScalarView([foldMark])
        for digit in String(number, radix: 16) {
            if let scalar = Unicode.Scalar(0xFE00 + UInt32(digit.hexDigitValue ?? 0)) { scalars.append(scalar) }
        }
        return Character(String(scalars))
    }

    private func expanded(_ part: ArraySlice<Character>) -> String {
        guard !folded.isEmpty else { return String(part) }
        var text = ""
        for character in part {
            if let whole = folded[character] { text += whole } else { text.append(character) }
        }
        return text
    }

    private static func lineCount(_ text: String) -> Int {
        text.utf8.reduce(text.hasSuffix("\n") ? 0 : 1) { $1 == 0x0A ? $0 + 1 : $0 }
    }

    /// `2,000`.
    private static func grouped(_ number: Int) -> String {
        var digits = String(number)
        var end = digits.endIndex
        while digits.distance(from: digits.startIndex, to: end) > 3 {
            end = digits.index(end, offsetBy: -3)
            digits.insert(",", at: end)
        }
        return digits
    }
}

// MARK: Lines

extension EditedText {
    /// Where the line of `place` begins.
    func lineStart(of place: Int) -> Int {
        (characters[..<place].lastIndex(of: "\n") ?? -1) + 1
    }

    /// Where the line of `place` ends, before its line feed.
    func lineEnd(of place: Int) -> Int {
        characters[place...].firstIndex(of: "\n") ?? characters.count
    }

    /// Moves to the line above or below, into the same column; false where there is none.
    mutating func moveLine(up: Bool) -> Bool {
        let start = lineStart(of: cursor)
        let column = characters[start..<cursor].reduce(0) { $0 + TextWidth.of($1) }
        let target: Int
        if up {
            guard start > 0 else { return false }
            target = lineStart(of: start - 1)
        } else {
            let end = lineEnd(of: cursor)
            guard end < characters.count else { return false }
            target = end + 1
        }
        let end = lineEnd(of: target)
        var place = target
        var used = 0
        while place < end, used + TextWidth.of(characters[place]) <= column {
            used += TextWidth.of(characters[place])
            place += 1
        }
        cursor = place
        return true
    }
}

// MARK: Words

extension EditedText {
    /// Where the word before the cursor begins; words are of letters and digits, or of anything but space.
    func wordStart(spaced: Bool = false) -> Int {
        var place = cursor
        while place > 0, !Self.isWord(characters[place - 1], spaced) { place -= 1 }
        while place > 0, Self.isWord(characters[place - 1], spaced) { place -= 1 }
        return place
    }

    /// Where the word behind the cursor ends.
    func wordEnd() -> Int {
        var place = cursor
        while place < characters.count, !Self.isWord(characters[place], false) { place += 1 }
        while place < characters.count, Self.isWord(characters[place], false) { place += 1 }
        return place
    }

    private static func isWord(_ character: Character, _ spaced: Bool) -> Bool {
        spaced ? !character.isWhitespace : character.isLetter || character.isNumber
    }
}
