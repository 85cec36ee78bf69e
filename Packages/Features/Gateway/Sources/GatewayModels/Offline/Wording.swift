import Capabilities
import TurnLoop

/// A text as it is said: word by word, and no further than the request allows.
struct Wording {
    /// A long text goes out in at most about this many parts, so that quoting a file does not take thousands of events.
    private static let mostParts = 500

    private(set) var text: String
    private(set) var finish = ChatAnswer.Finish.stop
    /// Whether the text ends before everything was said.
    private(set) var isCut = false
    private var words: [Substring]

    init(_ whole: String, _ options: ModelOptions) {
        text = whole
        for end in options.stop where !end.isEmpty {
            guard let place = text.firstRange(of: end) else { continue }
            text = String(text[..<place.lowerBound])
            isCut = true
        }
        words = Self.words(of: text)
        if let limit = options.maxTokens { shorten(to: limit) }
    }

    /// The words with the spaces behind them, as events.
    var pieces: [[ChatEvent]] {
        let size = words.count / Self.mostParts + 1
        return stride(from: 0, to: words.count, by: size).map { start in
            words[start..<min(start + size, words.count)].map { ChatEvent.text(String($0)) }
        }
    }

    private mutating func shorten(to limit: Int) {
        let estimate = TokenEstimate()
        guard estimate.tokens(of: text) > limit else { return }
        var kept = words.count
        while kept > 0, estimate.tokens(of: words.prefix(kept).joined()) > limit { kept = kept * 9 / 10 }
        words = Array(words.prefix(kept))
        text = words.joined()
        (finish, isCut) = (.length, true)
    }

    private static func words(of text: String) -> [Substring] {
        var words: [Substring] = []
        var start = text.startIndex
        var wasSpace = false
        for index in text.indices {
            let isSpace = text[index].isWhitespace
            if wasSpace, !isSpace {
                words.append(text[start..<index])
                start = index
            }
            wasSpace = isSpace
        }
        if start < text.endIndex { words.append(text[start...]) }
        return words
    }
}

extension String {
    /// Where another text stands in this one first.
    func firstRange(of other: String) -> Range<String.Index>? {
        let (bytes, wanted) = (Array(utf8), Array(other.utf8))
        guard let place = bytes.firstPlace(of: wanted) else { return nil }
        let start = utf8.index(startIndex, offsetBy: place)
        let end = utf8.index(start, offsetBy: wanted.count)
        // Not inside of a character.
        guard let first = start.samePosition(in: unicodeScalars), let last = end.samePosition(in: unicodeScalars) else {
            return nil
        }
        return first..<last
    }

    /// How often another text stands in this one; places may overlap.
    func count(of other: String) -> Int {
        let (bytes, wanted) = (Array(utf8), Array(other.utf8))
        guard !wanted.isEmpty else { return 0 }
        var (count, start) = (0, 0)
        while let place = bytes[start...].firstPlace(of: wanted) {
            count += 1
            start = place + 1
        }
        return count
    }
}

extension RandomAccessCollection where Element == UInt8, Index == Int {
    fileprivate func firstPlace(of wanted: [UInt8]) -> Int? {
        guard let first = wanted.first, count >= wanted.count else { return nil }
        for place in startIndex...(endIndex - wanted.count) where self[place] == first {
            if self[place..<(place + wanted.count)].elementsEqual(wanted) { return place }
        }
        return nil
    }
}
