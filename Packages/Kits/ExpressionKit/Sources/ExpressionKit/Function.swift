import JSON

/// A function that expressions can call.
struct Function: Sendable {
    let name: String
    /// The signature, for messages and the reference.
    let usage: String
    let summary: String
    /// The number of arguments.
    let count: ClosedRange<Int>
    let run: @Sendable (Arguments) throws(ExpressionError) -> JSON

    init(
        _ usage: String, _ summary: String, _ count: ClosedRange<Int>,
        _ run: @escaping @Sendable (Arguments) throws(ExpressionError) -> JSON
    ) {
        name = String(usage.prefix { $0 != "(" })
        self.usage = usage
        self.summary = summary
        self.count = count
        self.run = run
    }

    /// Every function by its name.
    static let all: [String: Function] = (text + lists + values + states).reduce(into: [:]) { $0[$1.name] = $1 }
}

/// The arguments of a call.
struct Arguments {
    let function: Function
    let values: [JSON]
    let scope: Scope
    let offset: Int

    func text(_ index: Int) throws(ExpressionError) -> String {
        guard let text = values[index].string else { throw wrong(index, "a text") }
        return text
    }

    func list(_ index: Int) throws(ExpressionError) -> [JSON] {
        guard let list = values[index].array else { throw wrong(index, "a list") }
        return list
    }

    func int(_ index: Int) throws(ExpressionError) -> Int {
        guard let number = values[index].int else { throw wrong(index, "a whole number") }
        return number
    }

    func wrong(_ index: Int, _ wanted: String) -> ExpressionError {
        failure("needs \(wanted), not \(values[index].kindName)")
    }

    func failure(_ words: String) -> ExpressionError {
        ExpressionError("\(function.usage) \(words)", at: offset)
    }

    /// A text within the size limit of the scope.
    func bounded(_ text: String) throws(ExpressionError) -> JSON {
        guard text.utf8.count <= scope.limit else { throw .tooLarge(scope.limit, at: offset) }
        return .string(text)
    }
}

extension Function {
    static let lists: [Function] = [
        Function("length(value)", "The number of items, members or characters", 1...1) {
            (given) throws(ExpressionError) in
            switch given.values[0] {
            case .array(let items): return .int(items.count)
            case .object(let members): return .int(members.count)
            case .string(let text): return .int(text.count)
            case .null: return 0
            default: throw given.wrong(0, "a list, an object or a text")
            }
        },
        Function("first(list)", "The first item, or null", 1...1) { (given) throws(ExpressionError) in
            try given.list(0).first ?? .null
        },
        Function("last(list)", "The last item, or null", 1...1) { (given) throws(ExpressionError) in
            try given.list(0).last ?? .null
        },
        Function("sort(list)", "The items in order, numbers or texts", 1...1) { (given) throws(ExpressionError) in
            let items = try given.list(0)
            // Compared once before sorting, because the closure of a sort cannot throw this error.
            for item in items.dropFirst() { _ = try Comparison.order(items[0], item, at: given.offset) }
            return .array(
                items.sorted { left, right in
                    do throws(ExpressionError) {
                        return try Comparison.order(left, right, at: given.offset) < 0
                    } catch {
                        return false
                    }
                })
        },
        Function("unique(list)", "The items without duplicates", 1...1) { (given) throws(ExpressionError) in
            var seen: Set<JSON> = []
            return .array(try given.list(0).filter { seen.insert($0).inserted })
        },
        Function("min(list)", "The smallest item, or null", 1...1) { (given) throws(ExpressionError) in
            try best(given) { $0 < 0 }
        },
        Function("max(list)", "The largest item, or null", 1...1) { (given) throws(ExpressionError) in
            try best(given) { $0 > 0 }
        },
        Function("sum(list)", "The sum of numbers", 1...1) { (given) throws(ExpressionError) in
            var sum: JSON = 0
            for item in try given.list(0) { sum = try Arithmetic(offset: given.offset).plus(sum, item) }
            return sum
        },
        Function("range(count)", "The numbers from 0, at most 10000 of them", 1...1) {
            (given) throws(ExpressionError) in
            let count = try given.int(0)
            guard (0...10_000).contains(count) else { throw given.failure("needs a number from 0 to 10000") }
            return .array((0..<count).map(JSON.int))
        },
        Function("keys(object)", "The names of the members", 1...1) { (given) throws(ExpressionError) in
            guard let members = given.values[0].object else { throw given.wrong(0, "an object") }
            return .array(members.map { .string($0.0) })
        },
        Function("values(object)", "The values of the members", 1...1) { (given) throws(ExpressionError) in
            guard let members = given.values[0].object else { throw given.wrong(0, "an object") }
            return .array(members.map { $0.1 })
        },
    ]

    private static func best(_ given: Arguments, _ wins: (Int) -> Bool) throws(ExpressionError) -> JSON {
        let items = try given.list(0)
        guard var best = items.first else { return .null }
        for item in items.dropFirst() where wins(try Comparison.order(item, best, at: given.offset)) { best = item }
        return best
    }
}

extension Function {
    static let text: [Function] = [
        Function("lower(text)", "The text in lower case", 1...1) { (given) throws(ExpressionError) in
            try given.bounded(given.text(0).lowercased())
        },
        Function("upper(text)", "The text in upper case", 1...1) { (given) throws(ExpressionError) in
            try given.bounded(given.text(0).uppercased())
        },
        Function("trim(text)", "The text without white space at both ends", 1...1) { (given) throws(ExpressionError) in
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
        Function("replace(text, old, new)", "The text with every old part replaced by the new one", 3...3) {
            (given) throws(ExpressionError) in
            let (text, old, new) = (try given.text(0), try given.text(1), try given.text(2))
            if old.isEmpty { throw given.failure("needs something to replace") }
            let parts = text.split(separator: old, omittingEmptySubsequences: false)
            let (size, overflow) = new.utf8.count.multipliedReportingOverflow(by: parts.count)
            if overflow || size > given.scope.limit { throw .tooLarge(given.scope.limit, at: given.offset) }
            return try given.bounded(parts.joined(separator: new))
        },
        Function("starts_with(text, part)", "Whether the text begins with the part", 2...2) {
            (given) throws(ExpressionError) in
            .bool(try given.text(0).hasPrefix(try given.text(1)))
        },
        Function("ends_with(text, part)", "Whether the text ends with the part", 2...2) {
            (given) throws(ExpressionError) in
            .bool(try given.text(0).hasSuffix(try given.text(1)))
        },
        Function("contains(whole, part)", "Whether a text, a list or an object contains the part", 2...2) {
            (given) throws(ExpressionError) in
            .bool(try Comparison.contains(given.values[0], given.values[1], at: given.offset))
        },
    ]
}

extension Function {
    static let values: [Function] = [
        Function("default(value, other)", "The value, or the other value if it is null", 2...2) {
            (given) throws(ExpressionError) in
            given.values[0].isNull ? given.values[1] : given.values[0]
        },
        Function("json(value)", "The value as JSON text", 1...1) { (given) throws(ExpressionError) in
            try given.bounded(given.values[0].text())
        },
        Function("parse_json(text)", "The value of a JSON text", 1...1) {
            (given) throws(ExpressionError) in
            do { return try JSON(parsing: Array(given.text(0).utf8)) } catch let error as ExpressionError {
                throw error
            } catch {
                throw given.failure("was given text that is not JSON: \(error)")
            }
        },
        Function("text(value)", "The value as a text", 1...1) { (given) throws(ExpressionError) in
            try given.bounded(given.values[0].plainText)
        },
        Function("number(text)", "The number in a text", 1...1) { (given) throws(ExpressionError) in
            if given.values[0].double != nil { return given.values[0] }
            let text = try given.text(0)
            do {
                let value = try JSON(parsing: Array(text.utf8))
                if value.double != nil { return value }
            } catch {}
            throw given.failure("was given text that is not a number")
        },
    ]

    static let states: [Function] = [
        Function("always()", "True, so that a step always runs", 0...0) { (_) throws(ExpressionError) in true },
        Function("succeeded()", "Whether the needed steps succeeded", 0...0) { (given) throws(ExpressionError) in
            .bool(try state(given))
        },
        Function("failed()", "Whether a needed step failed", 0...0) { (given) throws(ExpressionError) in
            .bool(try !state(given))
        },
    ]

    private static func state(_ given: Arguments) throws(ExpressionError) -> Bool {
        guard let state = given.scope.hasSucceeded else {
            throw given.failure("is allowed only in the 'if' of a step")
        }
        return state
    }
}
