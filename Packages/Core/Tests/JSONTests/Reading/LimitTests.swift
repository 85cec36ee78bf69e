import JSON
import Testing

@Suite("JSON reading limits")
struct LimitTests {
    static let readings: [JSONReading] = [.strict, .stream, .json5]

    @Test("Reading accepts 64 levels and no more", arguments: readings)
    func depth(reading: JSONReading) throws {
        let deep = String(repeating: "[", count: 63) + "{\"a\":1}" + String(repeating: "]", count: 63)
        #expect(try JSON(parsing: deep, reading: reading)[0]?[0] != nil)
        let error = try #require(throws: JSONError.self) { try JSON(parsing: "[" + deep + "]", reading: reading) }
        #expect(error.code == .depth)
        #expect(error.offset == 64)
        #expect(error.path.count == 64)
        #expect(error.message == "arrays and objects are nested deeper than the limit of 64 (maxDepth)")
    }

    @Test("A text that nests 10,000 levels deep is refused, even without a limit", arguments: readings)
    func deepest(reading: JSONReading) throws {
        var reading = reading
        reading.maxDepth = .max
        #expect(reading.maxDepth == JSONReading.deepest)
        for opening in ["[", "{\"a\":"] {
            let text = String(repeating: opening, count: 10_000)
            let error = try #require(throws: JSONError.self) { try JSON(parsing: text, reading: reading) }
            #expect(error.code == .depth)
        }
    }

    @Test("An error about a text that is too long contains its size", arguments: readings)
    func size(reading: JSONReading) throws {
        var reading = reading
        reading.maxBytes = 5
        #expect(try JSON(parsing: "[1,2]", reading: reading) == [1, 2])
        let error = try #require(throws: JSONError.self) { try JSON(parsing: "[1,23]", reading: reading) }
        #expect(error.code == .size)
        #expect(error.message == "the text has 6 bytes; the limit (maxBytes) is 5")
    }

    @Test("A line of a megabyte can be read", arguments: readings)
    func longLine(reading: JSONReading) throws {
        let text = String(repeating: "long é ", count: 140_000)
        #expect(try JSON(parsing: "[\"\(text)\"]", reading: reading) == [.string(text)])
        let numbers = String(repeating: "1,", count: 100_000) + "1"
        #expect(try JSON(parsing: "[\(numbers)]", reading: reading).array?.count == 100_001)
        let digits = String(repeating: "9", count: 10_000)
        #expect(try JSON(parsing: digits, reading: reading) == .big(digits))
    }
}
