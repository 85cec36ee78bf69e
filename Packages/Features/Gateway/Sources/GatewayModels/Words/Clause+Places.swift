extension Clause {
    /// The files and folders that it names, in order.
    var places: [Place] {
        tokens.compactMap { token in
            switch token.kind {
            case .word: Place(token.text)
            case .quoted: token.text.contains(where: \.isWhitespace) ? nil : Place(token.text)
            default: nil
            }
        }
    }

    /// The first file that it names, behind a given place.
    func file(from start: Int = 0) -> Place? {
        guard start < tokens.count else { return nil }
        return Clause(Array(tokens[start...])).places.first
    }

    /// The lines that it names: "line 3", "lines 3 to 9", "lines 3-9", "the first 20 lines".
    var lines: ClosedRange<Int>? {
        if let range = places.lazy.compactMap(\.lines).first { return range }
        guard let word = index(of: ["line", "lines"]) else { return nil }
        if word > 1, tokens[word - 2].lower == "first", let count = number(at: word - 1) { return 1...count }
        guard word + 1 < tokens.count else { return nil }
        if let range = Place.range(tokens[word + 1].text) {
            guard range.lowerBound == range.upperBound, word + 3 < tokens.count,
                ["to", "until", "through", "and", "-", "–"].contains(tokens[word + 2].lower),
                let last = number(at: tokens[word + 3].lower == "line" ? word + 4 : word + 3), last >= range.lowerBound
            else { return range }
            return range.lowerBound...last
        }
        return nil
    }

    private func number(at index: Int) -> Int? {
        guard tokens.indices.contains(index), let number = Int(tokens[index].text), number > 0 else { return nil }
        return min(number, Place.lastLine)
    }

    /// Which one of several it means: "the second", "the last", "number 3", "#3".
    var ordinal: Ordinal? {
        for (index, token) in tokens.enumerated() {
            let word = token.lower
            if word == "last" { return .last }
            if let number = Vocabulary.ordinals[word], index + 1 >= tokens.count || Int(tokens[index + 1].text) == nil {
                return .nth(number)
            }
            if word.hasPrefix("#"), let number = Int(word.dropFirst()), number > 0 { return .nth(number) }
            if word == "number", index + 1 < tokens.count, let number = Int(tokens[index + 1].text), number > 0 {
                return .nth(number)
            }
            for end in ["st", "nd", "rd", "th"] where word.hasSuffix(end) {
                if let number = Int(word.dropLast(2)), number > 0 { return .nth(number) }
            }
        }
        return nil
    }

    /// The kinds of markers that it names.
    var markers: [String] {
        var found: [String] = []
        for token in tokens {
            if let marker = Vocabulary.markers[token.lower], !found.contains(marker) { found.append(marker) }
        }
        return found
    }
}

/// One of several, counted from one.
enum Ordinal: Hashable {
    case nth(Int)
    case last

    func pick<Element>(from elements: [Element]) -> Element? {
        switch self {
        case .nth(let number): elements.indices.contains(number - 1) ? elements[number - 1] : nil
        case .last: elements.last
        }
    }

    var words: String {
        switch self {
        case .nth(let number):
            Vocabulary.ordinals.first { $0.value == number }?.key ?? "number \(number)"
        case .last: "last"
        }
    }
}
