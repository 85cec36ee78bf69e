import JSON
import Testing

@Suite("JSONDocument")
struct DocumentTests {
    static let text = """
        // settings
        {
          servers: {
            web1: { url: "http://a", tags: ["é", "b"] },
          },
        }
        """

    @Test("A document knows the positions of values and keys")
    func positions() throws {
        let document = try JSONDocument(parsing: Self.text, name: "config.json")
        #expect(document.name == "config.json")
        #expect(document.value["servers"]?["web1"]?["tags"] == ["é", "b"])
        func value(_ path: String...) -> [Int]? { document.position(of: path).map { [$0.line, $0.column] } }
        func key(_ path: String...) -> [Int]? { document.keyPosition(of: path).map { [$0.line, $0.column] } }
        #expect(value() == [2, 1])
        #expect(value("servers", "web1", "url") == [4, 18])
        #expect(value("servers", "web1", "tags", "1") == [4, 42])
        #expect(key("servers", "web1") == [4, 5])
        #expect(key("servers", "web1", "tags") == [4, 30])
        #expect(value("servers", "web2") == nil && value("servers", "web1", "url", "x") == nil)
        #expect(key() == nil && key("none") == nil && key("servers", "web1", "tags", "1") == nil)
    }

    @Test(
        "A document without a value is an empty object",
        arguments: ["", " \n", "// only a comment", "\u{FEFF}/**/"])
    func empty(text: String) throws {
        let document = try JSONDocument(parsing: text, name: "config.json")
        #expect(document.value == [:])
        #expect(document.position(of: []) == nil)
        #expect(document.removing(["a"]) == text)
        let edited = try document.setting(["a", "b"], to: 1)
        #expect(edited.hasPrefix(text))
        #expect(edited.hasSuffix("{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"))
        #expect(try JSON(parsing: edited, reading: .json5) == ["a": ["b": 1]])
    }

    @Test("A document is checked against the requested grammar")
    func strict() throws {
        #expect(throws: JSONError.self) { try JSONDocument(parsing: "{a: 1}", reading: .strict, name: "x") }
        #expect(throws: JSONError.self) { try JSONDocument(parsing: "// c", reading: .strict, name: "x") }
        #expect(throws: JSONError.self) { try JSONDocument(parsing: "{a: }", name: "x") }
        let document = try JSONDocument(parsing: "{\"a\": 1}", reading: .strict, name: "x")
        #expect(try document.setting(["b"], to: [1]) == #"{"a": 1, "b": [1]}"#)
        #expect(try JSONDocument(parsing: "\n", reading: .strict, name: "x").value == [:])
    }
}
