import JSON

extension Function {
    static let values: [Function] = [
        Function("default(value, other)", "The value, or the other where it is null", 2...2) {
            (given) throws(ExpressionError) in
            given.values[0].isNull ? given.values[1] : given.values[0]
        },
        Function("json(value)", "The value as JSON text", 1...1) { (given) throws(ExpressionError) in
            try given.bounded(given.values[0].text())
        },
        Function("parse_json(text)", "The value that a JSON text stands for", 1...1) {
            (given) throws(ExpressionError) in
            do { return try JSON(parsing: Array(given.text(0).utf8)) } catch let error as ExpressionError {
                throw error
            } catch {
                throw given.failure("was given a text that is not JSON: \(error)")
            }
        },
        Function("text(value)", "The value as a text", 1...1) { (given) throws(ExpressionError) in
            try given.bounded(given.values[0].plainText)
        },
        Function("number(text)", "The number that a text stands for", 1...1) { (given) throws(ExpressionError) in
            if given.values[0].double != nil { return given.values[0] }
            let text = try given.text(0)
            do {
                let value = try JSON(parsing: Array(text.utf8))
                if value.double != nil { return value }
            } catch {}
            throw given.failure("was given a text that is no number")
        },
    ]

    static let states: [Function] = [
        Function("always()", "True, so that a step runs in any case", 0...0) { (_) throws(ExpressionError) in true },
        Function("succeeded()", "Whether the needed steps went well", 0...0) { (given) throws(ExpressionError) in
            .bool(try state(given))
        },
        Function("failed()", "Whether a needed step failed", 0...0) { (given) throws(ExpressionError) in
            .bool(try !state(given))
        },
    ]

    private static func state(_ given: Arguments) throws(ExpressionError) -> Bool {
        guard let state = given.scope.hasSucceeded else {
            throw given.failure("can be asked only in the 'if' of a step")
        }
        return state
    }
}
