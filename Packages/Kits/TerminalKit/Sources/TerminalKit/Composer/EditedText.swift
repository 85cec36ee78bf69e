/// A text with a cursor between two of its characters. It cannot control a terminal.
///
/// A long text that is inserted at once, such as a paste, is folded into one character, which is shown as a few words.
struct EditedText: Equatable, Sendable {
    /// Pastes with more lines are folded.
    static let longPaste = 20
    /// Texts of the history with more lines are folded; shorter ones the user may want to edit.
    static let longRecall = 200
    /// A single line of this length is also folded.
    private static let longLine = 200

    private(set) var characters: [Character] = []
    private(set) var cursor = 0
    private(set) var byteCount = 0
    /// The texts of the folded characters.
    private var folded: [Character: String] = [:]

    /// A text with the cursor after it; folded if it has more lines than `limit`.
    init(_ text: String = "", folding limit: Int = .max) {
        insert(text, folding: limit)
    }

    var text: String { expanded(characters[...]) }
    var isEmpty: Bool { characters.isEmpty }

    /// The text with one character for each that is folded.
    var seen: String { String(characters) }

    /// How a folded character is shown.
    func label(of character: Character) -> String? {
        guard !folded.isEmpty, let text = folded[character] else { return nil }
        let lines = Self.lineCount(text)
        let count = lines > 1 ? "\(Self.grouped(lines)) lines" : "\(Self.grouped(text.utf8.count)) bytes"
        return "[Pasted text, \(count)]"
    }

    /// Inserts `text` before the cursor. It may join its neighbours to one character.
    ///
    /// It is folded if it has more lines than `limit`.
    mutating func insert(_ text: String, folding limit: Int = .max) {
        var text = Sanitizer.sanitize(text)
        guard !text.isEmpty else { return }
        // Only folded texts begin with this mark.
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

    /// Removes and returns the characters of `range`. The cursor moves there.
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

    /// Whether the cursor is after the last character.
    var isAtEnd: Bool { cursor == characters.count }
}

// MARK: Folded texts

extension EditedText {
    private static let foldMark: Unicode.Scalar = "\u{FFFC}"

    /// The character for a folded text: a mark, and its number in variation selectors, which join it.
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
    /// The start of the line of `place`.
    func lineStart(of place: Int) -> Int {
        (characters[..<place].lastIndex(of: "\n") ?? -1) + 1
    }

    /// The end of the line of `place`, before its line feed.
    func lineEnd(of place: Int) -> Int {
        characters[place...].firstIndex(of: "\n") ?? characters.count
    }

    /// Moves to the line above or below, in the same column; false if there is none.
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
    /// The start of the word before the cursor. Words consist of letters and digits, or of anything but spaces.
    func wordStart(spaced: Bool = false) -> Int {
        var place = cursor
        while place > 0, !Self.isWord(characters[place - 1], spaced) { place -= 1 }
        while place > 0, Self.isWord(characters[place - 1], spaced) { place -= 1 }
        return place
    }

    /// The end of the word after the cursor.
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
