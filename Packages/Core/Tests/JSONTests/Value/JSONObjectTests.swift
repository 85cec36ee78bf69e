import JSON
import Testing

@Suite("JSONObject")
struct JSONObjectTests {
    @Test("Members keep their order")
    func order() {
        let object: JSONObject = ["z": 1, "a": 2, "m": 3]
        #expect(object.keys == ["z", "a", "m"])
        #expect(object.map(\.value) == [1, 2, 3])
        #expect(object.map(\.key) == object.keys)
    }

    @Test("A replaced member keeps its place, and a new one is appended", arguments: [3, 40])
    func setting(count: Int) {
        var object = JSONObject((0..<count).map { ("k\($0)", .int($0)) })
        object["k1"] = "new"
        object["last"] = nil
        object["last"] = true
        #expect(object.count == count + 1)
        #expect(object.keys[1] == "k1")
        #expect(object["k1"] == "new")
        #expect(object.keys.last == "last")
        #expect(object["last"] == true)
    }

    @Test("Setting a member to nil removes it", arguments: [3, 17, 40])
    func removing(count: Int) {
        var object = JSONObject((0..<count).map { ("k\($0)", .int($0)) })
        object["k1"] = nil
        #expect(object["k1"] == nil)
        #expect(object.count == count - 1)
        #expect(object["k2"] == 2)
        #expect(object["k\(count - 1)"] == .int(count - 1))
        object["k1"] = 1
        #expect(object["k1"] == 1)
    }

    @Test("Keys that only look the same are distinct", arguments: [0, 40])
    func spelling(others: Int) throws {
        let (one, two) = ("\u{E9}", "e\u{301}")
        let (first, second) = ("a\u{323}\u{307}", "a\u{307}\u{323}")
        var object = JSONObject((0..<others).map { ("k\($0)", .int($0)) })
        for (place, key) in [one, two, first, second, "K", "\u{212A}"].enumerated() { object[key] = .int(place) }
        #expect(object.count == others + 6)
        #expect([object[one], object[two], object[first], object[second]] == [0, 1, 2, 3])
        #expect([object["K"], object["\u{212A}"]] == [4, 5])
        let text = JSON.object(object).text()
        for reading in [JSONReading.strict, .stream] {
            #expect(try JSON(parsing: text, reading: reading) == .object(object))
        }
        #expect(try JSONDocument(parsing: text, name: "a").value == .object(object))
        #expect(JSONObject([(one, 1)]) != JSONObject([(two, 1)]))
        #expect(throws: JSONError.self) { try JSON(parsing: "{\"\(two)\": 1, \"e\\u0301\": 2}") }
    }

    @Test("A null member is a value")
    func null() {
        let object: JSONObject = ["a": nil]
        #expect(object.count == 1)
        #expect(object["a"] == .null)
    }

    @Test("Of equal keys the last value counts")
    func duplicates() {
        #expect(JSONObject([("a", 1), ("b", 2), ("a", 3)]) == ["a": 3, "b": 2])
    }

    @Test("Objects with the same members in any order are equal and have the same hash", arguments: [2, 30])
    func equality(count: Int) {
        let members = (0..<count).map { ("k\($0)", JSON.int($0)) }
        let object = JSONObject(members)
        let turned = JSONObject(members.reversed())
        #expect(object == turned)
        #expect(object.hashValue == turned.hashValue)
        var other = turned
        other["k0"] = "x"
        #expect(object != other)
        other["k0"] = nil
        #expect(object != other)
    }

    @Test("An object with 200,000 members is built and read in linear time", .timeLimit(.minutes(5)))
    func large() {
        var object = JSONObject()
        for number in 0..<200_000 { object["key \(number)"] = .int(number) }
        var sum = 0
        for number in 0..<200_000 { sum += object["key \(number)"]?.int ?? 0 }
        #expect(sum == 199_999 * 100_000)
    }
}
