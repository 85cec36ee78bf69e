import JSON
import SchemaKit

/// The arguments of a tool against its schema, compared with Python's `jsonschema`.
enum SchemaBenchmark {
    private static let schema = """
        {"type":"object","properties":{"path":{"type":"string","minLength":1},\
        "pattern":{"type":"string","maxLength":4096},"limit":{"type":"integer","minimum":1,"maximum":1000},\
        "hidden":{"type":"boolean"},"kind":{"enum":["file","folder","link"]},\
        "tags":{"type":"array","items":{"type":"string","pattern":"^[a-z]+$"}}},\
        "required":["path","pattern"],"additionalProperties":false}
        """
    private static let value = """
        {"path":"Packages/Kits/SchemaKit/Sources","pattern":"struct [A-Z]","limit":100,"hidden":false,"kind":"file",\
        "tags":["swift","json"]}
        """

    static func run() async throws -> [Figure] {
        let (schema, value) = (try JSONSchema(JSON(parsing: schema)), try JSON(parsing: value))
        var matching = 0
        let ours = Samples.best(of: 5) {
            for _ in 0..<100_000 where schema.check(value).isValid { matching += 1 }
        }
        guard matching == 500_000 else { throw BenchmarkError("the arguments do not match") }
        let program = """
            import json, sys, time
            from jsonschema import Draft202012Validator
            validator, value = Draft202012Validator(json.loads(sys.argv[1])), json.loads(sys.argv[2])
            best = 9e9
            for _ in range(5):
                start = time.perf_counter()
                for _ in range(1000): assert validator.is_valid(value)
                best = min(best, time.perf_counter() - start)
            print(best / 1000)
            """
        let answer = try await Peers.output(Peers.python, ["-c", program, Self.schema, Self.value])
        guard let theirs = Double(answer.filter { !$0.isWhitespace }) else {
            throw BenchmarkError("jsonschema is not in .build/peers; 'make setup' installs it")
        }
        let each = ours / 100_000
        return [
            Figure("arguments of a tool: jsonschema / ours", theirs / each, "ratio", .atLeast(20)),
            Figure("ours", each * 1e6, "us", .atMost(10)), Figure("jsonschema", theirs * 1e6, "us"),
        ]
    }
}
