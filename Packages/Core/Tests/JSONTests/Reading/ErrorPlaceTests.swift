import JSON
import Testing

@Suite("JSONError positions")
struct ErrorPlaceTests {
    @Test("An error has the path, the line and the column in characters")
    func place() throws {
        let text = "{\n  \"servers\": [\n    {\"é😀\": 1, \"url\": bad}\n  ]\n}"
        let error = try #require(throws: JSONError.self) { try JSON(parsing: text) }
        #expect(error.path == ["servers", "0", "url"])
        #expect(error.line == 3)
        #expect(error.column == 22)
        #expect(error.offset == 42)
        #expect(error.description == "line 3, column 22: expected a value, found 'b'")
        #expect(error.located(in: "config.json") == "config.json:3:22: expected a value, found 'b'")
    }

    @Test(
        "Each kind of line break counts once",
        arguments: [("[\n\nx", 3, 1), ("[\r\n\r\n x", 3, 2), ("[\r\rx", 3, 1), ("[\n\rx", 3, 1), ("[\r\n", 2, 1)])
    func lines(text: String, line: Int, column: Int) throws {
        for reading in [JSONReading.strict, .stream, .json5] {
            let error = try #require(throws: JSONError.self) { try JSON(parsing: text, reading: reading) }
            #expect(error.line == line)
            #expect(error.column == column)
        }
    }

    @Test(
        "An error in a container has the container's path, an error in an item the item's",
        arguments: [
            ("[1, [2, 3 4]]", ["1"]), ("[1, [2, x]]", ["1", "1"]), ("{\"a\": {\"b\" 1}}", ["a"]),
            ("{\"a\": {\"b\": 1, \"b\": 2}}", ["a"]), ("[[[01]]]", ["0", "0", "0"]), ("x", []),
        ] as [(String, [String])])
    func paths(text: String, path: [String]) throws {
        for reading in [JSONReading.strict, .json5] {
            let error = try #require(throws: JSONError.self) { try JSON(parsing: text, reading: reading) }
            #expect(error.path == path)
        }
    }
}
