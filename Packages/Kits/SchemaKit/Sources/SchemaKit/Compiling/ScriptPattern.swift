/// Translates an expression of ECMA-262 (with the flag `u`, as JSON Schema recommends) into one of PCRE2.
///
/// What differs: `\d`, `\w` and `\b` are about ASCII; `\s` is about Unicode; `.` matches no line separator; `[` is
/// literal in a set; `[]` matches nothing; `$` matches only at the end; escapes such as `\u00e9` and `\/`.
/// What belongs to other dialects, such as `\A` and `(?P<name>)`, is refused instead of being read as something else.
struct ScriptPattern {
    /// Why an expression is not translated.
    struct Refusal: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private let source: [Unicode.Scalar]
    private var place = 0
    private var output = ""
    /// The names of groups, in order, with nil for those without a name.
    private let groups: [String?]

    /// The same expression for PCRE2, which must be read as UTF-8.
    static func translate(_ text: String) throws(Refusal) -> String {
        var translation = ScriptPattern(text)
        try translation.run()
        return translation.output
    }

    private init(_ text: String) {
        source = Array(text.unicodeScalars)
        groups = Self.groups(in: source)
    }

    /// All capturing groups, which references may name before they begin.
    private static func groups(in source: [Unicode.Scalar]) -> [String?] {
        var groups: [String?] = []
        var (place, isInSet) = (0, false)
        while place < source.count {
            switch source[place] {
            case "\\": place += 1
            case "[": isInSet = true
            case "]": isInSet = false
            case "(" where !isInSet:
                let rest = source[(place + 1)...].prefix(3)
                if rest.first != "?" {
                    groups.append(nil)
                } else if rest.starts(with: "?<".unicodeScalars), rest.last != "=", rest.last != "!" {
                    let name = source[(place + 3)...].prefix { $0 != ">" }
                    groups.append(String(String.UnicodeScalarView(name)))
                }
            default: break
            }
            place += 1
        }
        return groups
    }

    private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
        place + ahead < source.count ? source[place + ahead] : nil
    }

    private func looking(at text: String) -> Bool {
        source[min(place, source.count)...].starts(with: text.unicodeScalars)
    }

    // MARK: Terms

    private mutating func run() throws(Refusal) {
        // Whether a quantifier may follow.
        var isTerm = false
        while let scalar = peek() {
            place += 1
            switch scalar {
            case "^", "$", "|":
                output.unicodeScalars.append(scalar)
                isTerm = false
            case ".":
                output += #"[^\n\r\x{2028}\x{2029}]"#
                isTerm = true
            case "(":
                try beginGroup()
                isTerm = false
            case ")":
                output += ")"
                isTerm = true
            case "[":
                try set()
                isTerm = true
            case "\\":
                isTerm = try escape()
            case "*", "+", "?":
                guard isTerm else { throw Refusal("there is nothing to repeat before \(scalar)") }
                quantify(String(scalar))
                isTerm = false
            case "{":
                if let range = countedRange() {
                    guard isTerm else { throw Refusal("there is nothing to repeat before {") }
                    quantify(range)
                    isTerm = false
                } else {
                    output += #"\{"#
                    isTerm = true
                }
            default:
                literal(scalar)
                isTerm = true
            }
        }
    }

    private mutating func quantify(_ quantifier: String) {
        output += quantifier
        if peek() == "?" {
            output += "?"
            place += 1
        }
    }

    /// Reads `3}`, `3,}` or `3,5}` after a brace; nil if the brace is literal.
    private mutating func countedRange() -> String? {
        var end = place
        var digits = [0, 0]
        var commas = 0
        while end < source.count, source[end] != "}" {
            if source[end] == ",", commas == 0 {
                commas = 1
            } else if ("0"..."9").contains(source[end]) {
                digits[commas] += 1
            } else {
                return nil
            }
            end += 1
        }
        guard end < source.count, digits[0] > 0 else { return nil }
        let range = "{" + String(String.UnicodeScalarView(source[place...end]))
        place = end + 1
        return range
    }

    private mutating func beginGroup() throws(Refusal) {
        guard peek() == "?" else {
            if peek() == "*" { throw Refusal("there is nothing to repeat before *") }
            output += "("
            return
        }
        for begin in ["?:", "?=", "?!", "?<=", "?<!"] where looking(at: begin) {
            output += "(" + begin
            place += begin.utf8.count
            return
        }
        guard looking(at: "?<"), let end = source[place...].firstIndex(of: ">") else {
            let begin = String(String.UnicodeScalarView(source[place...].prefix(3)))
            throw Refusal("(\(begin) is not part of ECMA-262")
        }
        // The group is named by its number.
        output += "("
        place = end + 1
    }

    private mutating func literal(_ scalar: Unicode.Scalar) {
        if scalar.isASCII, !scalar.properties.isAlphabetic, !("0"..."9").contains(scalar), scalar.value > 0x20 {
            output += "\\"
        }
        output.unicodeScalars.append(scalar)
    }

    private mutating func literal(code: UInt32) {
        output += "\\x{\(String(code, radix: 16))}"
    }

    // MARK: Escapes

    /// Reads what follows a backslash outside of a set. Returns whether it can be repeated.
    private mutating func escape() throws(Refusal) -> Bool {
        guard let scalar = peek() else { throw Refusal("it ends with a backslash") }
        switch scalar {
        case "b", "B":
            place += 1
            output += "\\\(scalar)"
            return false
        case "1"..."9":
            var number = 0
            while let digit = peek(), ("0"..."9").contains(digit), number < 10_000 {
                number = number * 10 + Int(digit.value - 0x30)
                place += 1
            }
            guard number <= groups.count else { throw Refusal("there is no group \(number)") }
            output += "\\g{\(number)}"
        case "k":
            guard peek(1) == "<", let end = source[place...].firstIndex(of: ">") else {
                throw Refusal("\\k needs the name of a group")
            }
            let name = String(String.UnicodeScalarView(source[(place + 2)..<end]))
            guard let index = groups.firstIndex(of: name) else { throw Refusal("there is no group <\(name)>") }
            output += "\\g{\(index + 1)}"
            place = end + 1
        default:
            if let inside = try classEscape() { output += "[\(inside)]" } else { literal(code: try character()) }
        }
        return true
    }

    /// The inside of a set for `\d`, `\s`, `\p{…}` and the like; nil if a single character follows.
    private mutating func classEscape() throws(Refusal) -> String? {
        switch peek() {
        case "d", "D", "w", "W":
            place += 1
            return "\\\(source[place - 1])"
        case "s":
            place += 1
            return #"\t-\r \xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}"#
        case "S":
            place += 1
            return #"\x00-\x08\x0e-\x1f\x21-\x9f\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}"#
                + #"\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}"#
        case "p", "P":
            let letter = source[place]
            guard peek(1) == "{", let end = source[place...].firstIndex(of: "}") else {
                throw Refusal("\\\(letter) needs a property in braces")
            }
            let name = String(String.UnicodeScalarView(source[(place + 2)..<end]))
            place = end + 1
            return "\\\(letter){\(Self.property(name))}"
        default:
            return nil
        }
    }

    /// The name of PCRE2 for a property of characters.
    private static func property(_ name: String) -> String {
        let parts = name.split(separator: "=", maxSplits: 1)
        guard let value = parts.last.map(String.init), let key = parts.first else { return name }
        let category = categories[value] ?? value
        return switch (parts.count, key) {
        case (1, _), (2, "gc"), (2, "General_Category"): category
        case (2, "Script"), (2, "sc"): "sc:\(value)"
        case (2, "Script_Extensions"), (2, "scx"): "scx:\(value)"
        default: name
        }
    }

    private static let categories = [
        "Letter": "L", "Lowercase_Letter": "Ll", "Uppercase_Letter": "Lu", "Titlecase_Letter": "Lt",
        "Cased_Letter": "L&", "Modifier_Letter": "Lm", "Other_Letter": "Lo", "LC": "L&", "Mark": "M",
        "Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Number": "N", "Decimal_Number": "Nd",
        "digit": "Nd", "Letter_Number": "Nl", "Other_Number": "No", "Punctuation": "P", "punct": "P",
        "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd", "Open_Punctuation": "Ps", "Close_Punctuation": "Pe",
        "Initial_Punctuation": "Pi", "Final_Punctuation": "Pf", "Other_Punctuation": "Po", "Symbol": "S",
        "Math_Symbol": "Sm", "Currency_Symbol": "Sc", "Modifier_Symbol": "Sk", "Other_Symbol": "So",
        "Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl", "Paragraph_Separator": "Zp", "Other": "C",
        "Control": "Cc", "Format": "Cf", "Private_Use": "Co", "Surrogate": "Cs", "Unassigned": "Cn",
    ]

    /// Reads a single escaped character.
    private mutating func character() throws(Refusal) -> UInt32 {
        guard let scalar = peek() else { throw Refusal("it ends with a backslash") }
        place += 1
        switch scalar {
        case "t": return 9
        case "n": return 10
        case "v": return 11
        case "f": return 12
        case "r": return 13
        case "0":
            if let next = peek(), ("0"..."9").contains(next) { throw Refusal("\\0 must not be followed by a digit") }
            return 0
        case "c":
            guard let letter = peek(), letter.isASCII, letter.properties.isAlphabetic else {
                throw Refusal("\\c needs a letter")
            }
            place += 1
            return letter.value % 32
        case "x": return try hexadecimal(2)
        case "u": return try unicode()
        default:
            let isOther = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            if isOther { throw Refusal("\\\(scalar) is not part of ECMA-262") }
            return scalar.value
        }
    }

    private mutating func unicode() throws(Refusal) -> UInt32 {
        if peek() == "{" {
            guard let end = source[place...].firstIndex(of: "}"),
                let code = UInt32(String(String.UnicodeScalarView(source[(place + 1)..<end])), radix: 16),
                Unicode.Scalar(code) != nil
            else { throw Refusal("\\u{ needs the number of a character") }
            place = end + 1
            return code
        }
        let code = try hexadecimal(4)
        guard (0xD800...0xDFFF).contains(code) else { return code }
        guard code < 0xDC00, looking(at: "\\u") else { throw Refusal("half of a surrogate pair matches no text") }
        place += 2
        let low = try hexadecimal(4)
        guard (0xDC00...0xDFFF).contains(low) else { throw Refusal("half of a surrogate pair matches no text") }
        return 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }

    private mutating func hexadecimal(_ count: Int) throws(Refusal) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<count {
            guard let digit = peek(), let value = UInt32(String(digit), radix: 16), digit.isASCII else {
                throw Refusal("an escape needs \(count) hexadecimal digits")
            }
            code = code << 4 | value
            place += 1
        }
        return code
    }

    // MARK: Sets

    private mutating func set() throws(Refusal) {
        if looking(at: "]") {
            output += "(?!)"
            place += 1
            return
        }
        if looking(at: "^]") {
            output += "(?s:.)"
            place += 2
            return
        }
        output += "["
        if peek() == "^" {
            output += "^"
            place += 1
        }
        // Whether the last part was a single character, which may begin a range.
        var mayBegin = false
        while let scalar = peek(), scalar != "]" {
            place += 1
            if scalar == "-" {
                let isRange = mayBegin && peek() != nil && peek() != "]" && !isClassNext
                output += isRange ? "-" : "\\-"
                if !isRange {
                    mayBegin = true
                    continue
                }
                place += peek() == "\\" ? 1 : 0
                let end = source[place - 1] == "\\" ? try setCharacter() : nextLiteral()
                literal(code: end)
                mayBegin = false
            } else if scalar == "\\" {
                if let inside = try classEscape() {
                    output += inside
                    mayBegin = false
                } else {
                    literal(code: try setCharacter())
                    mayBegin = true
                }
            } else {
                literal(code: scalar.value)
                mayBegin = true
            }
        }
        guard peek() == "]" else { throw Refusal("a set is not closed") }
        output += "]"
        place += 1
    }

    /// Whether `\d` or the like follows, which ends no range.
    private var isClassNext: Bool {
        guard peek() == "\\", let next = peek(1) else { return false }
        return "dDwWsSpP".unicodeScalars.contains(next)
    }

    private mutating func nextLiteral() -> UInt32 {
        place += 1
        return source[place - 1].value
    }

    /// An escaped character in a set, where `\b` is a backspace.
    private mutating func setCharacter() throws(Refusal) -> UInt32 {
        if peek() == "b" {
            place += 1
            return 8
        }
        return try character()
    }
}
