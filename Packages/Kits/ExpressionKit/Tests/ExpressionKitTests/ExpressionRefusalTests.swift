import CoreTesting
import ExpressionKit
import JSON
import Testing

@Suite("Expression errors")
struct ExpressionRefusalTests {
    @Test(
        "A syntax error is reported with its position",
        arguments: [
            ("", 0, "expected a value"), ("1 +", 3, "the end"), ("1 2", 2, "expected an operator"),
            ("(1", 2, "expected ')'"), ("[1, 2", 5, "','"), ("a.", 2, "member name"),
            ("a.1", 2, "member name"),
            ("'open", 0, "not closed"), ("a = 1", 2, "not valid here"), ("lenght(a)", 0, "length"),
            ("$x", 0, "not valid here"),
            ("range()", 0, "with 0 arguments"), ("range(1, 2)", 0, "with 2 arguments"),
            ("a ? b", 5, "expected ':'"),
            ("1 }} 2", 2, "expected an operator"), ("a[", 2, "expected a value"), ("&& a", 0, "expected a value"),
        ] as [(String, Int, String)])
    func syntax(text: String, offset: Int, words: String) throws {
        let error = try #require(throws: ExpressionError.self) { try Expression(parsing: text) }
        #expect(error.offset == offset && error.message.contains(words), "\(error.offset): \(error.message)")
    }

    @Test(
        "An evaluation error is reported with its position",
        arguments: [
            ("inputz.name", 0, "known names: inputs, steps"), ("1 + 'a'", 2, "use '~' to join"),
            ("1 + null", 2, "needs numbers"),
            ("1 / 0", 2, "division by zero"), ("1 % 0", 2, "division by zero"), ("1.5 % 2", 4, "whole numbers"),
            ("1 && true", 0, "true or false"), ("!1", 1, "true or false"), ("1 ? 2 : 3", 0, "true or false"),
            ("1 < 'a'", 2, "cannot compare"), ("inputs.name.x", 12, "no members"),
            ("inputs.list.x", 12, "has no index"),
            ("inputs[0]", 7, "has no index"), ("1e", 1, "operator"), ("lower(1)", 0, "needs a text"),
            ("range(10001)", 0, "from 0 to 10000"), ("range(-1)", 0, "from 0 to 10000"),
            ("split('a', '')", 0, "separator"),
            ("sort([1, 'a'])", 0, "cannot compare"), ("parse_json('{')", 0, "not JSON"),
            ("number('x')", 0, "not a number"),
            ("sum(['a'])", 0, "use '~' to join"), ("keys(1)", 0, "needs an object"),
        ] as [(String, Int, String)])
    func value(text: String, offset: Int, words: String) throws {
        let error = try #require(throws: ExpressionError.self) { try Expression(parsing: text).value(in: scope) }
        #expect(error.offset == offset && error.message.contains(words), "\(error.offset): \(error.message)")
    }

    @Test("failed() is rejected outside of the condition of a step")
    func noState() throws {
        let expression = try Expression(parsing: "failed()")
        let error = try #require(throws: ExpressionError.self) { try expression.value(in: Scope()) }
        #expect(error.message.contains("'if' of a step"))
    }

    @Test("A value that would exceed the size limit is rejected")
    func limits() throws {
        var scope = Scope(["x": .string(String(repeating: "a", count: 1_000))])
        scope.limit = 100_000
        for text in ["x ~ x ~ join(range(10000), x)", "replace(x, 'a', x)", "join([x, x], join(range(100), x))"] {
            let error = try #require(throws: ExpressionError.self) { try Expression(parsing: text).value(in: scope) }
            #expect(error.message.contains("100000"), "\(error.message)")
        }
        let many = try Template(parsing: String(repeating: "${{ x }}", count: 200))
        #expect(throws: ExpressionError.self) { try many.value(in: scope) }
    }

    @Test(
        "An expression that is nested too deep or too long is rejected",
        arguments: [
            String(repeating: "(", count: 5_000), String(repeating: "!", count: 5_000) + "true",
            String(repeating: "-", count: 5_000) + "1", String(repeating: "[", count: 5_000),
            "a" + String(repeating: ".b", count: 5_000), "1" + String(repeating: " + 1", count: 4_000),
            String(repeating: "a", count: 20_000),
        ])
    func depth(text: String) throws {
        let error = try #require(throws: ExpressionError.self) { try Expression(parsing: text) }
        #expect(
            error.message.contains("deeper") || error.message.contains("too long") || error.message.contains("longer"))
    }

    @Test("A random expression gives a value or an error")
    func random() throws {
        var generator = SeededGenerator(seed: 11)
        let words = [
            "inputs", ".", "name", "[", "]", "(", ")", "1", "'a'", "+", "~", "&&", "==", "?", ":", "!", "-", "length",
            ",", "in",
        ]
        var valued = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...9, using: &generator)
            let text = (0..<count).map { _ in words.randomElement(using: &generator) ?? "" }.joined(separator: " ")
            do throws(ExpressionError) {
                _ = try Expression(parsing: text).value(in: scope)
                valued += 1
            } catch {
                #expect((0...text.unicodeScalars.count).contains(error.offset) && !error.message.isEmpty, "\(text)")
            }
        }
        #expect(valued > 200)
    }
}
