import JSON
import Testing

@Suite("JSONDocument removal")
struct DocumentRemovingTests {
    @Test(
        "Removing a value also removes its comma and the comment on its line",
        arguments: [
            ("{\n  // about a\n  a: 1, // one\n  b: 2\n}", "a", "{\n  // about a\n  b: 2\n}"),
            ("{\n  a: 1,\n  b: 2 // two\n}", "b", "{\n  a: 1\n}"),
            ("{\n  a: 1,\n  b: 2,\n}", "b", "{\n  a: 1,\n}"),
            ("{\r\n  a: 1,\r\n  b: 2\r\n}", "a", "{\r\n  b: 2\r\n}"),
            ("{\n  a: {\n    x: 1\n  },\n  b: 2\n}", "a", "{\n  b: 2\n}"),
            ("{ a: 1, b: 2 }", "a", "{ b: 2 }"),
            ("{ a: 1, b: 2 }", "b", "{ a: 1 }"),
            ("{ a: 1, /* about b */ b: 2 }", "a", "{ /* about b */ b: 2 }"),
            ("{ a: 1, /* about b */ b: 2 }", "b", "{ a: 1 /* about b */ }"),
            ("{ a: 1, b: 2 // two\n}", "b", "{ a: 1\n}"),
            ("[1, 2, 3]", "1", "[1, 3]"),
            ("[1, [2, 3], 4]", "1.1", "[1, [2], 4]"),
            ("{ a: 1 }", "a", "{ }"),
            ("{a:1}", "b", "{a:1}"),
            ("{a:1}", "a.b", "{a:1}"),
            ("{a:1}", "", "{a:1}"),
        ])
    func removing(text: String, path: String, expected: String) throws {
        let document = try JSONDocument(parsing: text, name: "config.json")
        #expect(document.removing(path.split(separator: ".").map(String.init)) == expected)
    }
}
