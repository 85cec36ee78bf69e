/// A text with a cursor between two of its characters; nothing in it commands a terminal.
struct EditedText: Equatable, Sendable {
    private(set) var characters: [Character] = []
    private(set) var cursor = 0
    private(set) var byteCount = 0

    /// A text with the cursor behind it.
    init(_ text: String = "") {
        insert(text)
    }

    var text: String { String(characters) }
    var isEmpty: Bool { characters.isEmpty }

    /// Puts `text` before the cursor; it may become one character with what stands beside it.
    mutating func insert(_ text: String) {
        let text = Sanitizer.sanitize(text)
        guard !text.isEmpty else { return }
        byteCount += text.utf8.count
        let start = max(0, cursor - 1)
        let end = min(characters.count, cursor + 1)
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
        let removed = String(characters[range])
        characters.removeSubrange(range)
        byteCount -= removed.utf8.count
        cursor = range.lowerBound
        return removed
    }

    mutating func move(to place: Int) { cursor = min(characters.count, max(0, place)) }

    /// Whether the cursor is behind the last character.
    var isAtEnd: Bool { cursor == characters.count }
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
