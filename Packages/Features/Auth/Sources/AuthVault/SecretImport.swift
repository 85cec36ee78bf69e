public import Capabilities
import JSON

/// Parses secrets from `KEY=value` lines, as in `.env` files, or from a JSON object.
///
///     OPENAI_API_KEY=sk-…        becomes the secret openai
///     {"kamiwaza.pat": "…"}      keeps its name
///
/// A problem contains only line numbers and valid names from the text, because the rest may be a misplaced secret.
public struct SecretImport: Sendable {
    /// The secrets, in the order of the text.
    public private(set) var secrets: [(name: SecretName, secret: Secret)] = []
    /// The problems found. If there are any, nothing should be stored.
    public private(set) var problems: [Problem] = []

    private var lines: [SecretName: Int] = [:]

    /// A problem in a line.
    public struct Problem: Sendable, Hashable {
        /// Counted from 1.
        public let line: Int
        /// The description, without the line number.
        public let message: String
    }

    /// Parses either format. The first character decides which one.
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
            return complain("a name must have 1 to 128 letters, digits, '.', '_' and '-'", line: line)
        }
        guard !value.isEmpty else { return complain("'\(name)' has no value", line: line) }
        guard value.utf8.count <= SecretRules.largestSecret else {
            return complain("the value of '\(name)' is larger than 64 KiB", line: line)
        }
        if let first = lines[name] { return complain("'\(name)' is already set in line \(first)", line: line) }
        lines[name] = line
        secrets.append((name, Secret(value)))
    }

    mutating func complain(_ message: String, line: Int) {
        problems.append(Problem(line: line, message: message))
    }

    /// `OPENAI_API_KEY` becomes `openai`; other names are only changed to lower case.
    private static func name(for key: String) -> SecretName? {
        let suffix = "_API_KEY"
        let isVariable = key.hasSuffix(suffix) && key.utf8.count > suffix.utf8.count
        let name = (isVariable ? String(key.dropLast(suffix.count)) : key).lowercased()
        return SecretRules.isName(name) ? SecretName(name) : nil
    }
}

extension SecretImport {
    mutating func readJSON(_ text: [UInt8]) {
        do {
            let document = try JSONDocument(parsing: text, reading: .strict, name: "import")
            for (key, value) in document.value.object ?? [:] {
                let line = document.keyPosition(of: [key])?.line ?? 1
                if let value = value.string {
                    add(key, value, line: line)
                } else {
                    complain("a secret must be text, not \(value.kindName)", line: line)
                }
            }
        } catch {
            // The parser's error is dropped, because it may quote the text.
            complain("this is not a JSON object (column \(error.column))", line: error.line)
        }
    }
}

extension SecretImport {
    /// Parses `KEY=value`, `export KEY='value'` and `KEY="va\nlue"`. Empty lines and lines that start with `#` are
    /// skipped.
    mutating func readLines(_ text: ArraySlice<UInt8>) {
        for (index, bytes) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let line = index + 1
            guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
                complain("this is not valid UTF-8 text", line: line)
                continue
            }
            var rest = Self.trimmed(text.unicodeScalars[...])
            if rest.isEmpty || rest.first == "#" { continue }
            let export = "export ".unicodeScalars
            if rest.starts(with: export) { rest = Self.trimmed(rest.dropFirst(export.count)) }
            guard let equals = rest.firstIndex(of: "=") else {
                complain("this is not KEY=value", line: line)
                continue
            }
            let value = Self.value(Self.trimmed(rest[rest.index(after: equals)...]))
            if let value {
                add(String(Self.trimmed(rest[..<equals])), value, line: line)
            } else {
                complain("the closing quote is missing or not at the end of the value", line: line)
            }
        }
    }

    private typealias Text = String.UnicodeScalarView.SubSequence

    private static func trimmed(_ text: Text) -> Text {
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\r"
    }

    /// The value without quotes and escapes, or without the comment after it. Nil when the quotes are wrong.
    private static func value(_ text: Text) -> String? {
        guard let quote = text.first, quote == "'" || quote == "\"" else { return String(withoutRemark(text)) }
        var value = String.UnicodeScalarView()
        var rest = text.dropFirst()
        while let scalar = rest.popFirst() {
            if scalar == quote {
                let after = trimmed(rest)
                return after.isEmpty || after.first == "#" ? String(value) : nil
            }
            if quote == "\"", scalar == "\\", let escaped = rest.popFirst() {
                value.append(contentsOf: meaning(of: escaped))
            } else {
                value.append(scalar)
            }
        }
        return nil
    }

    private static func meaning(of escaped: Unicode.Scalar) -> [Unicode.Scalar] {
        switch escaped {
        case "n": ["\n"]
        case "r": ["\r"]
        case "t": ["\t"]
        case "\\", "\"", "$", "`": [escaped]
        default: ["\\", escaped]
        }
    }

    /// A comment needs a space before it, because keys may contain `#`.
    private static func withoutRemark(_ text: Text) -> Text {
        var before: Unicode.Scalar?
        for index in text.indices {
            if text[index] == "#", before.map(isSpace) == true { return trimmed(text[..<index]) }
            before = text[index]
        }
        return text
    }
}
