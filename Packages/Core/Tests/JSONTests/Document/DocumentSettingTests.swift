import JSON
import Testing

@Suite("JSONDocument assignment")
struct DocumentSettingTests {
    @Test(
        "Setting a value changes only that value",
        arguments: [
            // Values that are replaced.
            ("{ a: 0x10, /* c */ b: 2 } // end", "a", 5, "{ a: 5, /* c */ b: 2 } // end"),
            ("{ a: 0x10 }", "a", 16, "{ a: 0x10 }"),
            (
                "{\n  \"a\": 1, // one\n}\n", "a", ["x": [1]],
                "{\n  \"a\": {\n    \"x\": [\n      1\n    ]\n  }, // one\n}\n"
            ),
            ("{\n  a: [1, 2]\n}", "a", [3, ["k": 4]], "{\n  a: [3, {k: 4}]\n}"),
            ("[1, 2, 3]", "1", "two", "[1, \"two\", 3]"),
            ("// c\n1", "", true, "// c\ntrue"),
            // Items added to existing ones.
            ("{\"a\":1}", "b", 2, "{\"a\":1, \"b\": 2}"),
            ("{ a: 1, }", "b", 2, "{ a: 1, b: 2, }"),
            ("{\n    \"a\": 1\n}\n", "b", 2, "{\n    \"a\": 1,\n    \"b\": 2\n}\n"),
            ("{\n\ta: 1, // one\n\t// more\n}", "b", [1], "{\n\ta: 1, // one\n\tb: [\n\t\t1\n\t],\n\t// more\n}"),
            ("{\n  'a': 1 // one\n}", "b", 2, "{\n  'a': 1, // one\n  'b': 2\n}"),
            ("{\n  a: 1 /* one\n  */ }", "b", 2, "{\n  a: 1, /* one\n  */\n  b: 2 }"),
            ("{ a: 1 // one\n}", "b", 2, "{ a: 1, // one\n  b: 2\n}"),
            ("[\n  1,\n  2\n]", "2", 3, "[\n  1,\n  2,\n  3\n]"),
            ("{\r\n  a: 1\r\n}\r\n", "b", ["c": 1], "{\r\n  a: 1,\r\n  b: {\r\n    c: 1\r\n  }\r\n}\r\n"),
            // Items added to an empty container.
            ("{}", "a", 1, "{\n  \"a\": 1\n}"),
            ("{ }\n", "a.b", 1, "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"),
            ("{\n  // none yet\n}", "a", 1, "{\n  // none yet\n  \"a\": 1\n}"),
            ("{ /* none */ }", "a", 1, "{ /* none */\n  \"a\": 1\n }"),
            ("{\n    x: {}, y: []\n}", "x.a", 1, "{\n    x: {\n        a: 1\n    }, y: []\n}"),
            ("{ x: [], y: {} }", "x.0", 1, "{ x: [1], y: {} }"),
            // Keys that need quotes.
            ("{ a: 1 }", "b-c", 2, "{ a: 1, \"b-c\": 2 }"),
            ("{ 'a': 1 }", "it's \"x\"", 2, "{ 'a': 1, 'it\\'s \"x\"': 2 }"),
            ("{\n  'a': {}\n}", "a.b", 2, "{\n  'a': {\n    'b': 2\n  }\n}"),
        ] as [(String, String, JSON, String)])
    func setting(text: String, path: String, value: JSON, expected: String) throws {
        let document = try JSONDocument(parsing: text, name: "config.json")
        let path = path.split(separator: ".").map(String.init)
        #expect(try document.setting(path, to: value) == expected)
    }

    @Test(
        "Setting a value fails if something other than an object is in the way",
        arguments: [
            ("{\n  a: 'x' }", "a.b", "expected an object for the key \"b\", found a string", 2, 6),
            ("{a: null}", "a.b.c", "expected an object for the key \"b\", found null", 1, 5),
            ("[1]", "2", "the array has no place for \"2\"; its next index is 1", 1, 1),
            ("[1]", "x", "the array has no place for \"x\"; its next index is 1", 1, 1),
        ])
    func blocked(text: String, path: String, message: String, line: Int, column: Int) throws {
        let document = try JSONDocument(parsing: text, name: "config.json")
        let path = path.split(separator: ".").map(String.init)
        let error = try #require(throws: JSONError.self) { try document.setting(path, to: 1) }
        #expect(error.code == .type)
        #expect(error.message == message)
        #expect(error.path == Array(path.prefix(error.path.count)))
        #expect(error.line == line && error.column == column)
    }

    @Test("Setting a value fails if the result would nest too deeply to be read")
    func depth() throws {
        let document = try JSONDocument(parsing: "{}", name: "config.json")
        let path = (0..<70).map { "k\($0)" }
        let error = try #require(throws: JSONError.self) { try document.setting(path, to: 1) }
        #expect(error.code == .depth)
    }
}
