/// Cuts an expression into words.
struct Tokenizer {
    private let scalars: [Unicode.Scalar]
    private var place: Int

    /// Longest first, so that `<=` is not read as `<`.
    private static let signs = [
        "}}", "||", "&&", "==", "!=", "<=", ">=", "<", ">", "!", "+", "-", "*", "/", "%", "~", "?", ":", ".", ",", "(",
        ")",
        "[", "]",
    ].map { Array($0.unicodeScalars) }

    init(_ scalars: [Unicode.Scalar], from place: Int = 0) {
        self.scalars = scalars
        self.place = place
    }

    mutating func next() throws(ExpressionError) -> Token {
        while place < scalars.count, [" ", "\t", "\n", "\r"].contains(scalars[place]) { place += 1 }
        let start = place
        guard place < scalars.count else { return Token(kind: .end, offset: start) }
        switch scalars[place] {
        case "'", "\"": return Token(kind: .text(try text()), offset: start)
        case "0"..."9": return Token(kind: .number(number()), offset: start)
        case "a"..."z", "A"..."Z", "_":
            return Token(kind: .name(take { Self.isName($0) }), offset: start)
        default:
            guard let sign = Self.signs.first(where: { scalars[place...].starts(with: $0) }) else {
                throw ExpressionError("'\(scalars[place].escaped(asASCII: false))' means nothing here", at: start)
            }
            place += sign.count
            return Token(kind: .sign(String(String.UnicodeScalarView(sign))), offset: start)
        }
    }

    private mutating func take(while fits: (Unicode.Scalar) -> Bool) -> String {
        let start = place
        while place < scalars.count, fits(scalars[place]) { place += 1 }
        return String(String.UnicodeScalarView(scalars[start..<place]))
    }

    /// A hyphen belongs to a name when a letter follows it, as in `steps.find-todos`; subtraction has spaces around it.
    private static func isName(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
            || scalar == "_" || scalar == "-"
    }

    private mutating func number() -> String {
        var text = take { ("0"..."9").contains($0) }
        // `a[0].b` has no fraction.
        if place + 1 < scalars.count, scalars[place] == ".", ("0"..."9").contains(scalars[place + 1]) {
            place += 1
            text += "." + take { ("0"..."9").contains($0) }
        }
        return text
    }

    /// A text in either quotes; a quote that is doubled stands for itself, and nothing else is special.
    private mutating func text() throws(ExpressionError) -> String {
        let (start, quote) = (place, scalars[place])
        var text = String.UnicodeScalarView()
        place += 1
        while place < scalars.count {
            let scalar = scalars[place]
            place += 1
            if scalar == quote {
                guard place < scalars.count, scalars[place] == quote else { return String(text) }
                place += 1
            }
            text.append(scalar)
        }
        throw ExpressionError("the text that begins here has no end; close it with \(quote)", at: start)
    }
}
