import ExpressionKit
import JSON
import Testing

@Suite("Template")
struct TemplateTests {
    @Test(
        "Expressions in a text are replaced by their values",
        arguments: [
            ("plain", "plain"), ("${{ inputs.count }}", 3), (" ${{ inputs.count }}", " 3"),
            ("a ${{ inputs.name }} b ${{ 1 + 1 }}", "a Ada b 2"), ("${{ inputs.list }}!", "[\"a\",\"b\",\"a\"]!"),
            ("${{ '}}' }}", "}}"), ("${{ '${{' }} x }}", "${{ x }}"), ("$ { {", "$ { {"),
            ("${{inputs.nothing}}", .null),
            ("x${{ inputs.nothing }}", "x"), ("é ${{ 'ü' }} é", "é ü é"), ("}} ${{ 1 }}", "}} 1"), ("", ""),
        ] as [(String, JSON)])
    func value(text: String, expected: JSON) throws {
        #expect(try Template(parsing: text).value(in: scope) == expected)
    }

    @Test(
        "An error in a template is reported with its position",
        arguments: [
            ("a ${{ 1", 7, "expected '}}'"), ("a ${{ }}", 6, "expected a value"),
            ("${{ 1 2 }}", 6, "expected '}}'"),
            ("x ${{ 'a }}", 6, "not closed"),
        ] as [(String, Int, String)])
    func refusal(text: String, offset: Int, words: String) throws {
        let error = try #require(throws: ExpressionError.self) { try Template(parsing: text) }
        #expect(error.offset == offset && error.message.contains(words), "\(error.offset): \(error.message)")
    }

    @Test("Templates are found at any depth of a value, and errors name the path")
    func values() throws {
        let json: JSON = ["a": ["${{ inputs.name }}", 1], "b": ["c": "${{ inputs.count }}"]]
        let template = try JSONTemplate(json)
        #expect(try template.value(in: scope) == ["a": ["Ada", 1], "b": ["c": 3]])
        #expect(template.expressions.map { $0.path.joined(separator: "/") } == ["a/0", "b/c"])
        let wrong = try #require(throws: JSONTemplate.Problem.self) { try JSONTemplate(["a": [1, "${{ ( }}"]]) }
        #expect(wrong.path == ["a", "1"])
        let failing = try JSONTemplate(["a": ["b": "${{ 1 / 0 }}"]])
        let problem = try #require(throws: JSONTemplate.Problem.self) { try failing.value(in: scope) }
        #expect(problem.path == ["a", "b"])
    }
}
