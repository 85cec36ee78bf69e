import ExpressionKit
import JSON
import Testing

@Suite("Parts of an expression")
struct ExpressionPartsTests {
    private func comparisons(_ text: String) throws -> [Expression.Comparison?] {
        try Expression(parsing: text).conjuncts.map(\.comparison)
    }

    @Test("What && joins at the top is found in its order, with comparisons of names and constants")
    func conjuncts() throws {
        let found = try comparisons("a == 'x' && (2 < b.c && 'y' in d) && (e == 1 || f) && b.c != null")
        #expect(found.map { $0?.path } == [["a"], ["b", "c"], nil, nil, ["b", "c"]])
        #expect(found.map { $0?.sign } == [.equal, .greater, nil, nil, .unequal])
        #expect(found.map { $0?.constant } == ["x", 2, nil, nil, .null])
        // Two names, two constants, and what is below something else are no such comparisons.
        #expect(try comparisons("a == b && 1 == 1 && !(a == 1)") == [nil, nil, nil])
        #expect(try comparisons("a < 1 || b < 1") == [nil])
        let deep = String(repeating: "true && ", count: 900) + "a == 1"
        #expect(try comparisons(deep).count == 901)
    }

    @Test("The parts have together the value of the whole")
    func together() throws {
        for text in ["inputs.deep && inputs.count == 3", "inputs.deep && false", "1 < 2 && inputs.name == 'Ada'"] {
            let whole = try Expression(parsing: text)
            let parts = try whole.conjuncts.map { try $0.bool(in: scope) }
            #expect(try whole.bool(in: scope) == parts.allSatisfy { $0 }, "\(text)")
        }
    }

    @Test("Constants that a name is compared with are converted wherever they are, and others are not")
    func converts() throws {
        func convert(_ text: String) throws -> Expression {
            try Expression(parsing: text).converting(constantsFor: "start", to: "a time") { $0 == "now" ? 5 : nil }
        }
        let given = Scope(["start": 5, "name": "now"])
        for text in [
            "start == 'now'", "!('now' > start)", "true ? start >= 'now' : start == 'now'", "[start == 'now'][0]",
            "name == 'now' && start != null", "contains([start == 'now'], true)",
        ] {
            #expect(try convert(text).bool(in: given), "\(text)")
        }
        let error = try #require(throws: ExpressionError.self) { try convert("name == 'x' || start < 'x'") }
        #expect(error.offset == 23 && error.message == "'start' is compared with a time, not \"x\"")
    }

    @Test("An unknown name is found without a value, as in an evaluation")
    func names() throws {
        let expression = try Expression(parsing: "inputs.name == 'Ada' || other.x == 1")
        try expression.requireNames(among: ["inputs", "other"])
        let error = try #require(throws: ExpressionError.self) { try expression.requireNames(among: ["inputs"]) }
        #expect(error.offset == 24 && error.message == "unknown name 'other'; known names: inputs")
        #expect(throws: error) { try expression.value(in: Scope(["inputs": [:]])) }
    }
}
