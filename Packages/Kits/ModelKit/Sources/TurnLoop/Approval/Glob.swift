/// Patterns as shells have them: `*` for anything but `/`, `**` for anything, `?` for one character but `/`, and `\` for
/// the next character as it is.
enum Glob {
    private enum Piece: Equatable {
        case one(Unicode.Scalar)
        case any
        case run
        case everything
    }

    /// Walks along the text once with all places in the pattern that are possible, so that no pattern is slow.
    static func matches(_ pattern: String, _ text: String) -> Bool {
        let pieces = pieces(of: pattern)
        var places = reachable(from: [0], pieces)
        for scalar in text.unicodeScalars {
            var next: Set<Int> = []
            for place in places where place < pieces.count {
                switch pieces[place] {
                case .one(let wanted): if wanted == scalar { next.insert(place + 1) }
                case .any: if scalar != "/" { next.insert(place + 1) }
                case .run: if scalar != "/" { next.insert(place) }
                case .everything: next.insert(place)
                }
            }
            if next.isEmpty { return false }
            places = reachable(from: next, pieces)
        }
        return places.contains(pieces.count)
    }

    /// A pattern that only the text itself fits.
    static func escape(_ text: String) -> String {
        var pattern = ""
        for scalar in text.unicodeScalars {
            if "*?\\".unicodeScalars.contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        return pattern
    }

    /// How much of the text a pattern says: exact ones say most, and of others those with more characters.
    static func precision(of pattern: String) -> Int {
        let pieces = pieces(of: pattern)
        let exact = pieces.count { if case .one = $0 { true } else { false } }
        return exact == pieces.count ? 1 << 20 : exact
    }

    private static func pieces(of pattern: String) -> [Piece] {
        var pieces: [Piece] = []
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                pieces.append(.one(scalar))
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "*" {
                if pieces.last == .run {
                    pieces[pieces.count - 1] = .everything
                } else if pieces.last != .everything {
                    pieces.append(.run)
                }
            } else {
                pieces.append(scalar == "?" ? .any : .one(scalar))
            }
        }
        if isEscaped { pieces.append(.one("\\")) }
        return pieces
    }

    /// The places that need no further character: stars may stand for nothing.
    private static func reachable(from places: Set<Int>, _ pieces: [Piece]) -> Set<Int> {
        var reached = places
        for start in places {
            var place = start
            while place < pieces.count, pieces[place] == .run || pieces[place] == .everything {
                place += 1
                reached.insert(place)
            }
        }
        return reached
    }
}
