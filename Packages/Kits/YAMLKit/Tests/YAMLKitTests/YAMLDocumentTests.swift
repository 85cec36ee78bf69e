import CoreTesting
import JSON
import Testing
import YAMLKit

@Suite("YAMLDocument")
struct YAMLDocumentTests {
    private func json(_ text: String) throws -> JSON {
        try YAMLDocument(parsing: Array(text.utf8), name: "test.yaml").value
    }

    @Test("A byte order mark at the beginning is ignored")
    func byteOrderMark() throws {
        let document = try YAMLDocument(parsing: [0xEF, 0xBB, 0xBF] + Array("a: 1\nb: 2".utf8), name: "test.yaml")
        #expect(document.value == ["a": 1, "b": 2])
        #expect(document.position(of: ["a"]).map { [$0.line, $0.column] } == [1, 4])
        #expect(try YAMLDocument(parsing: [0xEF, 0xBB, 0xBF], name: "test.yaml").value == [:])
    }

    @Test("A document has the values that JSON also has")
    func values() throws {
        let text = """
            text: plain
            quoted: "1"
            whole: 12
            negative: -3
            fraction: 0.5
            large: 1e3
            yes: true
            no: false
            nothing:
            tilde: ~
            list: [a, 'b', "c"]
            empty: {}
            block: |
              one
              two
            folded: >-
              one
              two
            """
        let expected: JSON = [
            "text": "plain", "quoted": "1", "whole": 12, "negative": -3, "fraction": 0.5, "large": .double(1000),
            "yes": true, "no": false, "nothing": .null, "tilde": .null, "list": ["a", "b", "c"], "empty": [:],
            "block": "one\ntwo\n", "folded": "one two",
        ]
        #expect(try json(text) == expected)
    }

    @Test(
        "Words such as yes and 012 stay texts",
        arguments: [
            "yes", "no", "on", "OFF", "True", "NULL", "012", "0x1F", "0o7", "1:20", "1_000", ".5", "5.", "+1", ".inf",
            ".nan", "2026-11-20", "1.2.3", "1-2", "-", "--1", "=", "0.1.2",
        ])
    func plainTexts(text: String) throws {
        #expect(try json("value: \(text == "-" ? "'-'" : text)")["value"] == .string(text))
    }

    @Test(
        "A document without content is an empty object",
        arguments: ["", "\n", "# only a comment\n", "---\n...\n", "\u{FEFF}"])
    func empty(text: String) throws {
        let value = try json(text)
        #expect(value == [:] || value == .null)
    }

    @Test("Values and keys have positions")
    func places() throws {
        let text = "a: 1\nsteps:\n  - id: one\n    with: {x: 1, y: [1, 2]}\n  - id: zwölf: zwei\n"
        #expect(throws: YAMLError.self) { try json(text) }
        let document = try YAMLDocument(parsing: Array(text.replacing("zwölf: zwei", with: "zwölf").utf8), name: "f")
        #expect(document.position(of: ["steps", "0", "id"]).map { [$0.line, $0.column] } == [3, 9])
        #expect(document.keyPosition(of: ["steps", "0", "with"]).map { [$0.line, $0.column] } == [4, 5])
        #expect(document.position(of: ["steps", "0", "with", "y", "1"]).map { [$0.line, $0.column] } == [4, 25])
        #expect(document.position(of: ["steps", "2"]) == nil)
        #expect(document.position(of: ["a", "b"]) == nil)
        #expect(document.position(of: []).map { [$0.line, $0.column] } == [1, 1])
    }

    @Test("Columns are counted in characters, not bytes")
    func columns() throws {
        let document = try YAMLDocument(parsing: Array("é: {ö: x}".utf8), name: "f")
        #expect(document.position(of: ["é", "ö"]).map { [$0.line, $0.column] } == [1, 8])
    }

    @Test("An alias has the value of its anchor, and its own position")
    func aliases() throws {
        let document = try YAMLDocument(parsing: Array("a: &x [1, 2]\nb: *x\nc: [*x, *x]\n".utf8), name: "f")
        #expect(document.value["c"] == [[1, 2], [1, 2]])
        #expect(document.position(of: ["b"]).map { [$0.line, $0.column] } == [2, 4])
    }

    @Test("All common styles of YAML are read")
    func forms() throws {
        let texts = [
            "a: [1, 2, {b: c}]", "a: 'it''s'", "a: \"\\u00e9\\n\"", "? a\n: b", "- a\n-\n  - b", "a: |+\n  x\n\n",
        ]
        let expected: [JSON] = [
            ["a": [1, 2, ["b": "c"]]], ["a": "it's"], ["a": "é\n"], ["a": "b"], ["a", ["b"]], ["a": "x\n\n"],
        ]
        for (text, value) in zip(texts, expected) { #expect(try json(text) == value, "\(text)") }
    }
}
