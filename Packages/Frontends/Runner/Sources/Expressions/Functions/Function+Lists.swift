import JSON

extension Function {
    static let lists: [Function] = [
        Function("length(value)", "How many items, members or characters there are", 1...1) {
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
            // Compared once beforehand: a closure of sorting cannot throw this error.
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
        Function("unique(list)", "The items, each once", 1...1) { (given) throws(ExpressionError) in
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
