import Capabilities

/// A shell command, as far as it consists of plain words. Anything else is not interpreted.
enum ShellCommand: Equatable {
    /// Programs with their arguments, joined by `&&`, `||`, `;`, `|` or a line break.
    case plain([[String]])
    /// A text with assignments, redirections, expansions, patterns, functions or shell keywords, or one that cannot be
    /// read.
    case opaque

    init(_ text: String) {
        var parser = Parser(text)
        let parts = parser.parse() ? parser.parts : []
        self = !parts.isEmpty && parts.allSatisfy(Self.isPlain) ? .plain(parts) : .opaque
    }

    /// Whether the whole text can be read and its first word names a program, and not something that the shell handles
    /// itself.
    private static func isPlain(_ words: [String]) -> Bool {
        guard let first = words.first, !first.isEmpty, !first.contains("="), !reserved.contains(first) else {
            return false
        }
        return words.allSatisfy { PlainText.escape($0) == $0 }
    }

    private static let reserved: Set<String> = [
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "function",
        "select", "time", "coproc", "[[", "]]", "!", "{", "}",
    ]

    /// Every word in a text, whatever the shell would make of it. Quotes and escapes are removed.
    static func words(in text: String) -> [String] {
        var words: [String] = []
        var word = ""
        for scalar in text.unicodeScalars where scalar != "'" && scalar != "\"" && scalar != "\\" {
            if scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "_-./+@:".unicodeScalars.contains(scalar)
            {
                word.unicodeScalars.append(scalar)
            } else if !word.isEmpty {
                words.append(word)
                word = ""
            }
        }
        return word.isEmpty ? words : words + [word]
    }
}

/// Reads plain words and the operators between commands.
private struct Parser {
    private let scalars: [Unicode.Scalar]
    private var next = 0
    private(set) var parts: [[String]] = []
    private var words: [String] = []

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    private var current: Unicode.Scalar? { next < scalars.count ? scalars[next] : nil }

    /// Whether all of it could be read.
    mutating func parse() -> Bool {
        while let scalar = current {
            switch scalar {
            case " ", "\t": next += 1
            case "\n", ";":
                next += 1
                // A command may end here, and lines may be empty.
                if words.isEmpty, scalar == ";" { return false }
                end()
            case "|", "&":
                let count = scalars[next...].prefix { $0 == scalar }.count
                guard !words.isEmpty, count == 2 || (count == 1 && scalar == "|") else { return false }
                next += count
                end()
                // A command must follow, possibly on the next line, and something must precede it.
                while let space = current, " \t\n".unicodeScalars.contains(space) { next += 1 }
                if current == nil { return false }
            default:
                guard let word = word() else { return false }
                words.append(word)
            }
        }
        end()
        return true
    }

    private mutating func end() {
        if !words.isEmpty { parts.append(words) }
        words = []
    }

    private mutating func word() -> String? {
        var word = ""
        while let scalar = current {
            switch scalar {
            case " ", "\t", "\n", ";", "|", "&": return word
            case "'", "\"":
                guard let quoted = quoted(scalar) else { return nil }
                word += quoted
            default:
                guard Self.isPlain(scalar) else { return nil }
                word.unicodeScalars.append(scalar)
                next += 1
            }
        }
        return word
    }

    private mutating func quoted(_ mark: Unicode.Scalar) -> String? {
        var text = ""
        next += 1
        while let scalar = current, scalar != mark {
            if mark == "\"", "$`\\!".unicodeScalars.contains(scalar) { return nil }
            text.unicodeScalars.append(scalar)
            next += 1
        }
        guard current == mark else { return nil }
        next += 1
        return text
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: "_-./:,+@%=^".unicodeScalars.contains(scalar)
        }
    }
}
