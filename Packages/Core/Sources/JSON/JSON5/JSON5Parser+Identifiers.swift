extension JSON5Parser {
    /// Whether an identifier starts here.
    var startsIdentifier: Bool {
        let scalar = cursor.scalar(at: cursor.offset).0
        return scalar.startsIdentifier || scalar == "\\"
    }

    /// Reads a key without quotes: an identifier of ECMAScript 5.1, in which escapes may stand for letters.
    mutating func identifier() throws(JSONError) -> String {
        guard startsIdentifier else { throw cursor.failure(.expectedKey) }
        var name = String.UnicodeScalarView()
        while true {
            let start = cursor.offset
            var (scalar, length) = cursor.scalar(at: start)
            let isEscape = scalar == "\\"
            if isEscape {
                guard cursor[start + 1] == UInt8(ascii: "u") else {
                    throw cursor.failure(.unknownEscape, at: start + 1)
                }
                scalar = try unicodeEscape()
                length = 0
            }
            guard name.isEmpty ? scalar.startsIdentifier : scalar.continuesIdentifier else {
                if isEscape { throw cursor.failure(.expectedKey, at: start) }
                return String(name)
            }
            name.append(scalar)
            cursor.offset += length
        }
    }
}

extension Unicode.Scalar {
    /// Whether an identifier can start with this.
    var startsIdentifier: Bool {
        switch self {
        case "$", "_", "a"..."z", "A"..."Z": return true
        case _ where isASCII: return false
        default: break
        }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber:
            return true
        default: return false
        }
    }

    /// Whether an identifier can go on with this.
    var continuesIdentifier: Bool {
        if startsIdentifier || self == "\u{200C}" || self == "\u{200D}" { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .decimalNumber, .connectorPunctuation: return true
        default: return false
        }
    }
}

extension String {
    /// Whether this can be a key without quotes.
    var isIdentifier: Bool {
        guard let first = unicodeScalars.first, first.startsIdentifier else { return false }
        return unicodeScalars.dropFirst().allSatisfy(\.continuesIdentifier)
    }
}
