public import Capabilities

/// The secrets of a text that was written elsewhere: lines `KEY=value` as in `.env` files, or a JSON object.
///
///     OPENAI_API_KEY=sk-…        becomes the secret openai
///     {"kamiwaza.pat": "…"}      keeps its name
///
/// Nothing of the text but its line numbers and good names gets into a problem, for a misplaced secret could be in it.
public struct SecretImport: Sendable {
    /// What was found, in the order of the text.
    public private(set) var secrets: [(name: SecretName, secret: Secret)] = []
    /// What could not be understood; where there is any, it is better to store nothing.
    public private(set) var problems: [Problem] = []

    private var lines: [SecretName: Int] = [:]

    /// Something wrong with a line.
    public struct Problem: Sendable, Hashable {
        /// Counted from 1.
        public let line: Int
        /// What is wrong, without the line.
        public let message: String
    }

    /// Reads either form; which one it is shows the first character.
    public init(parsing text: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let body = text.starts(with: mark) ? text.dropFirst(mark.count) : text[...]
        guard body.count <= SecretRules.largestFile else {
            problems = [Problem(line: 1, message: "the text is larger than 16 MiB")]
            return
        }
        let isJSON = body.first { $0 != 0x20 && !(0x09...0x0D).contains($0) } == UInt8(ascii: "{")
        if isJSON { readJSON(Array(body)) } else { readLines(body) }
    }

    mutating func add(_ key: String, _ value: String, line: Int) {
        guard let name = Self.name(for: key) else {
            return complain("the name can have 1 to 128 letters, digits, '.', '_' and '-'", line: line)
        }
        guard !value.isEmpty else { return complain("'\(name)' has no value", line: line) }
        guard value.utf8.count <= SecretRules.largestSecret else {
            return complain("the value of '\(name)' is larger than 64 KiB", line: line)
        }
        if let first = lines[name] { return complain("'\(name)' was given in line \(first) already", line: line) }
        lines[name] = line
        secrets.append((name, Secret(value)))
    }

    mutating func complain(_ message: String, line: Int) {
        problems.append(Problem(line: line, message: message))
    }

    /// `OPENAI_API_KEY` is the variable of `openai`; other names are only written small.
    private static func name(for key: String) -> SecretName? {
        let suffix = "_API_KEY"
        let isVariable = key.hasSuffix(suffix) && key.utf8.count > suffix.utf8.count
        let name = (isVariable ? String(key.dropLast(suffix.count)) : key).lowercased()
        return SecretRules.isName(name) ? SecretName(name) : nil
    }
}
