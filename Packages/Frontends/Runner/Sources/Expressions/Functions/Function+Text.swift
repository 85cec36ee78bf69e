import JSON

extension Function {
    static let text: [Function] = [
        Function("lower(text)", "The text in lower case", 1...1) { (given) throws(ExpressionError) in
            try given.bounded(given.text(0).lowercased())
        },
        Function("upper(text)", "The text in upper case", 1...1) { (given) throws(ExpressionError) in
            try given.bounded(given.text(0).uppercased())
        },
        Function("trim(text)", "The text without white space at its ends", 1...1) { (given) throws(ExpressionError) in
            let text = try given.text(0)
            let start = text.firstIndex { !$0.isWhitespace } ?? text.endIndex
            let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? start
            return .string(String(text[start..<max(start, end)]))
        },
        Function("split(text, separator)", "The parts of a text", 2...2) { (given) throws(ExpressionError) in
            let (text, separator) = (try given.text(0), try given.text(1))
            if separator.isEmpty { throw given.failure("needs a separator") }
            return .array(
                text.split(separator: separator, omittingEmptySubsequences: false).map { .string(String($0)) })
        },
        Function("lines(text)", "The lines of a text, without empty ones", 1...1) { (given) throws(ExpressionError) in
            .array(try given.text(0).split(whereSeparator: \.isNewline).map { .string(String($0)) })
        },
        Function("join(list, separator)", "The items of a list as one text", 2...2) { (given) throws(ExpressionError) in
            let separator = try given.text(1)
            var text = ""
            for (index, item) in try given.list(0).enumerated() {
                if index > 0 { text += separator }
                text += item.plainText
                _ = try given.bounded(text)
            }
            return .string(text)
        },
        Function("replace(text, old, new)", "The text with each old part replaced", 3...3) {
            (given) throws(ExpressionError) in
            let (text, old, new) = (try given.text(0), try given.text(1), try given.text(2))
            if old.isEmpty { throw given.failure("needs something to replace") }
            let parts = text.split(separator: old, omittingEmptySubsequences: false)
            let (size, overflow) = new.utf8.count.multipliedReportingOverflow(by: parts.count)
            if overflow || size > given.scope.limit { throw .tooLarge(given.scope.limit, at: given.offset) }
            return try given.bounded(parts.joined(separator: new))
        },
        Function("starts_with(text, part)", "Whether a text begins with another", 2...2) {
            (given) throws(ExpressionError) in
            .bool(try given.text(0).hasPrefix(try given.text(1)))
        },
        Function("ends_with(text, part)", "Whether a text ends with another", 2...2) {
            (given) throws(ExpressionError) in
            .bool(try given.text(0).hasSuffix(try given.text(1)))
        },
        Function("contains(whole, part)", "Whether a text, a list or an object has something", 2...2) {
            (given) throws(ExpressionError) in
            .bool(try Comparison.contains(given.values[0], given.values[1], at: given.offset))
        },
    ]
}
