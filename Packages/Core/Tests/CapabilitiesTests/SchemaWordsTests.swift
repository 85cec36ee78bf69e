import Capabilities
import JSON
import Testing

@Suite("Schema words")
struct SchemaWordsTests {
    struct Good: Sendable, CustomTestStringConvertible {
        let schema: Schema
        let word: String
        let json: JSON

        init(_ schema: Schema, _ word: String, _ json: JSON) {
            (self.schema, self.word, self.json) = (schema, word, json)
        }

        var testDescription: String { "\(schema) from '\(word)'" }
    }

    static let point = Schema.record([
        .init("x", "Across", .integer(nil)), .init("note", "A note", .optional(.string)),
    ])

    @Test(
        "Words become values of the declared kind",
        arguments: [
            Good(.boolean, "true", true), Good(.boolean, "Yes", true), Good(.boolean, "ON", true),
            Good(.boolean, "1", true), Good(.boolean, "false", false), Good(.boolean, "no", false),
            Good(.boolean, "off", false), Good(.boolean, "0", false),
            Good(.integer(nil), "-12", -12), Good(.integer(0...9), "9", 9),
            Good(.number(nil), "2.5", 2.5), Good(.number(nil), "2", .double(2)), Good(.number(0...1), "1e-3", 0.001),
            Good(.string, "a=b", "a=b"), Good(.string, "", ""), Good(.choice(["a", "b"]), "b", "b"),
            Good(.path(.read), "a b", "a b"), Good(.url, "https://example.com", "https://example.com"),
            Good(.duration, "1m30s", "1m30s"), Good(.size(nil), "64KiB", "64KiB"),
            Good(.time, "2026-11-20T09:30:00Z", "2026-11-20T09:30:00Z"), Good(.secret, "s3cret", "s3cret"),
            Good(.optional(.integer(nil)), "3", 3),
            Good(.array(.string), "a,b", ["a", "b"]), Good(.array(.integer(nil)), "1,2", [1, 2]),
            Good(.array(.integer(nil)), "[1, 2]", [1, 2]), Good(.array(.string), "", []),
            Good(.map(.integer(nil)), "{a: 1}", ["a": 1]),
            Good(point, "{x: 1, note: 'here'}", ["x": 1, "note": "here"]),
            Good(.any, "{a: [1]}", ["a": [1]]), Good(.any, "12", 12), Good(.any, "hello there", "hello there"),
        ])
    func good(_ row: Good) throws {
        #expect(try row.schema.json(fromWord: row.word) == row.json)
    }

    struct Bad: Sendable, CustomTestStringConvertible {
        let schema: Schema
        let word: String
        let message: String

        init(_ schema: Schema, _ word: String, _ message: String) {
            (self.schema, self.word, self.message) = (schema, word, message)
        }

        var testDescription: String { "\(schema) from '\(word)'" }
    }

    @Test(
        "A word that does not fit is refused with what was expected",
        arguments: [
            Bad(.boolean, "maybe", "needs true or false, not 'maybe'"),
            Bad(.integer(nil), "1.5", "needs a whole number, not '1.5'"),
            Bad(.integer(nil), "9223372036854775808", "needs a whole number, not '9223372036854775808'"),
            Bad(.integer(1...9), "10", "must be from 1 to 9, not 10"),
            Bad(.number(nil), "inf", "needs a number, not 'inf'"),
            Bad(.number(nil), "two", "needs a number, not 'two'"),
            Bad(.number(0...1), "1.5", "must be from 0.0 to 1.0, not 1.5"),
            Bad(
                .choice(["metric", "imperial"]), "metrc",
                "needs one of metric, imperial, not 'metrc'; did you mean 'metric'?"),
            Bad(.choice(["a", "b"]), "zebra", "needs one of a, b, not 'zebra'"),
            Bad(.path(.any), "", "needs a path, not empty text"),
            Bad(.url, "example.com", "needs a URL such as https://example.com"),
            Bad(.duration, "soon", "needs a duration such as 250ms, 30s or 1m30s, not 'soon'"),
            Bad(.size(nil), "big", "needs a size such as 4096, 64KiB or 10MB, not 'big'"),
            Bad(.time, "noon", "needs a time such as 2026-11-20T09:30:00Z"),
            Bad(.optional(.integer(nil)), "x", "needs a whole number, not 'x'"),
            Bad(.array(.integer(nil)), "1,x", "needs a whole number, not 'x'"),
            Bad(.array(.integer(nil)), "[1, true]", "1: needs a whole number, not a boolean"),
            Bad(.map(.integer(nil)), "{a: 'b'}", "a: needs a whole number, not a string"),
            Bad(.map(.integer(nil)), "[1]", "needs an object, not an array"),
            Bad(point, "{note: 1}", "x: is missing"),
        ])
    func bad(_ row: Bad) {
        #expect(thrownMessage { () throws(ValueError) in try row.schema.json(fromWord: row.word) } == row.message)
    }

    @Test(
        "A word that should be JSON is refused with the reason",
        arguments: [Schema.map(.string), point, .array(.string)])
    func noJSON(schema: Schema) throws {
        let message = try #require(thrownMessage { () throws(ValueError) in try schema.json(fromWord: "[1,") })
        #expect(message.hasPrefix("is not valid JSON ("))
        #expect(message.hasSuffix("): '[1,'"))
    }

    @Test("A word that nests too deeply is refused without a crash")
    func deep() {
        let word = String(repeating: "[", count: 100_000)
        #expect(thrownMessage { () throws(ValueError) in try Schema.array(.any).json(fromWord: word) } != nil)
    }
}
