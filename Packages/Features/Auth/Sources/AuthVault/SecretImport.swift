public import Capabilities
import JSON

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

extension SecretImport {
    mutating func readJSON(_ text: [UInt8]) {
        do {
            let document = try JSONDocument(parsing: text, reading: .strict, name: "import")
            for (key, value) in document.value.object ?? [:] {
                let line = document.keyPosition(of: [key])?.line ?? 1
                if let value = value.string {
                    add(key, value, line: line)
                } else {
                    complain("a secret has to be text, not \(value.kindName)", line: line)
                }
            }
        } catch {
            // The reader's own words may quote what stands there.
            complain("this is not an object in JSON (column \(error.column))", line: error.line)
        }
    }
}

extension SecretImport {
    /// Reads `KEY=value`, `export KEY='value'` and `KEY="va\nlue"`; empty lines and those that begin with `#` are left out.
    mutating func readLines(_ text: ArraySlice<UInt8>) {
        for (index, bytes) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let line = index + 1
            guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
                complain("this is not text in UTF-8", line: line)
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
                complain("the quotes do not end where the value does", line: line)
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

    /// Without its quotes and escapes, or without the remark after it; nil when the quotes are wrong.
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

    /// A remark needs a space before it, because keys may hold a `#`.
    private static func withoutRemark(_ text: Text) -> Text {
        var before: Unicode.Scalar?
        for index in text.indices {
            if text[index] == "#", before.map(isSpace) == true { return trimmed(text[..<index]) }
            before = text[index]
        }
        return text
    }
}
