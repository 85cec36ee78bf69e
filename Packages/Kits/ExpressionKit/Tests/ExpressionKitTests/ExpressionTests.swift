import CoreTesting
import JSON
import Testing

@testable import ExpressionKit

/// The scope for the expressions of the tests.
let scope = Scope(
    [
        "inputs": ["name": "Ada", "count": 3, "deep": true, "empty": "", "nothing": .null, "list": ["a", "b", "a"]],
        "steps": ["find-todos": ["result": ["items": [["text": "one"], ["text": "two"]], "total": 2], "exit": 0]],
    ], hasSucceeded: true)

@Suite("Expression")
struct ExpressionTests {
    @Test(
        "An expression has the expected value",
        arguments: [
            ("1", 1), ("-3", -3), ("1.5", 1.5), ("'it''s'", "it's"), ("\"a\"\"b\"", "a\"b"), ("null", .null),
            ("[1, 'a', [true]]", [1, "a", [true]]), ("inputs.name", "Ada"), ("inputs['name']", "Ada"),
            ("steps.find-todos.result.items[1].text", "two"), ("steps.find-todos.result.items[-1].text", "two"),
            ("inputs.missing", .null), ("inputs.missing.more[3].x", .null), ("inputs.list[9]", .null),
            ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("7 / 2", 3.5), ("8 / 2", 4), ("7 % 4", 3), ("-7 % 4", -3),
            ("10 - 2 - 3", 5), ("2 - -2", 4), ("0.5 + 1", 1.5), ("inputs.count - 1", 2),
            ("9223372036854775807 + 1", 9.223372036854775807e18),
            ("'a' ~ 1 ~ null ~ true", "a1true"), ("1 == 1.0", true), ("'1' == 1", false), ("[1, 2] == [1.0, 2]", true),
            ("1 < 2 && 'a' < 'b'", true), ("2 <= 2", true), ("'b' > 'a'", true), ("!true || true", true),
            ("'d' in 'Ada'", true), ("'a' in inputs.list", true), ("'name' in inputs", true), ("1 in null", false),
            ("inputs.deep ? 'yes' : 'no'", "yes"), ("false ? 1 / 0 : 2", 2), ("false && 1 / 0 == 1", false),
            ("true || missing", true), ("1 < 2 == true", true), ("true ? false ? 1 : 2 : 3", 2),
        ] as [(String, JSON)])
    func value(text: String, expected: JSON) throws {
        #expect(try Expression(parsing: text).value(in: scope) == expected)
    }

    @Test(
        "A function call has the expected value",
        arguments: [
            ("lower('ÄB')", "äb"), ("upper('ab')", "AB"), ("trim('  a b ')", "a b"), ("trim('   ')", ""),
            ("split('a,b,,c', ',')", ["a", "b", "", "c"]), ("lines('a\nb\r\n\nc')", ["a", "b", "c"]),
            ("join(inputs.list, '-')", "a-b-a"), ("replace('aXbX', 'X', 'YY')", "aYYbYY"),
            ("starts_with('abc', 'ab')", true), ("ends_with('abc', 'bc')", true), ("contains('abc', 'b')", true),
            ("contains(inputs.list, 'z')", false), ("length('äöü')", 3), ("length(inputs.list)", 3),
            ("length(null)", 0),
            ("first(inputs.list)", "a"), ("last([])", .null), ("sort([3, 1, 2.5])", [1, 2.5, 3]),
            ("unique(inputs.list)", ["a", "b"]), ("min([3, 1])", 1), ("max(['a', 'c', 'b'])", "c"),
            ("sum([1, 2, 0.5])", 3.5),
            ("range(3)", [0, 1, 2]), ("keys(steps)", ["find-todos"]), ("values(inputs)[0]", "Ada"),
            ("default(inputs.missing, 'x')", "x"), ("default(inputs.name, 1 / 0)", "Ada"),
            ("json([1, 'a'])", "[1,\"a\"]"),
            ("parse_json('{\"a\": [1]}').a[0]", 1), ("text(1.5)", "1.5"), ("number('12')", 12), ("always()", true),
            ("succeeded()", true), ("failed()", false), ("sum([])", 0),
        ] as [(String, JSON)])
    func function(text: String, expected: JSON) throws {
        #expect(try Expression(parsing: text).value(in: scope) == expected)
    }

    @Test("Every function is documented and can be called")
    func reference() {
        #expect(Expression.functionReference.count >= 27)
        for (usage, summary) in Expression.functionReference {
            #expect(usage.hasSuffix(")") && !summary.isEmpty && !summary.hasSuffix("."), "\(usage)")
        }
    }

    @Test("An expression lists its references, as far as they are constant")
    func references() throws {
        let text = "steps.ask.result['text'] ~ inputs[inputs.key].x ~ length(steps.b.items[0]) ~ (env.A)"
        let paths = try Expression(parsing: text).references.map { $0.path.joined(separator: "/") }
        #expect(paths == ["steps/ask/result/text", "inputs", "inputs/key", "steps/b/items/0", "env/A"])
        #expect(try Expression(parsing: "always() && failed()").functions == ["always", "failed"])
    }

    @Test("An expression inside a value is not evaluated")
    func noInjection() throws {
        let hostile = Scope(["inputs": ["text": "${{ 1 + 1 }} '; rm -rf / #"]])
        #expect(
            try Template(parsing: "say ${{ inputs.text }}").value(in: hostile)
                == "say ${{ 1 + 1 }} '; rm -rf / #")
    }
}
