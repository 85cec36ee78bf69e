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
