import JSON

/// Something that expressions can call.
struct Function: Sendable {
    let name: String
    /// How it is written, for messages and the reference.
    let usage: String
    let summary: String
    /// How many values it takes.
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

extension Expression {
    /// Every function, as the reference shows it.
    public static var functionReference: [(usage: String, summary: String)] {
        Function.all.values.sorted { $0.name < $1.name }.map { ($0.usage, $0.summary) }
    }
}

/// What a function was given.
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
        failure("needs \(wanted) and was given \(values[index].kindName)")
    }

    func failure(_ words: String) -> ExpressionError {
        ExpressionError("\(function.usage) \(words)", at: offset)
    }

    /// A text that is not larger than the scope allows.
    func bounded(_ text: String) throws(ExpressionError) -> JSON {
        guard text.utf8.count <= scope.limit else { throw .tooLarge(scope.limit, at: offset) }
        return .string(text)
    }
}
