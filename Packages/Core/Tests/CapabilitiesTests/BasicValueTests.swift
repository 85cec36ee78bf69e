import Capabilities
import JSON
import Testing

@Suite("Basic values")
struct BasicValueTests {
    @Test("Values survive a round trip through their own JSON")
    func bothWays() throws {
        #expect(try String(json: "text".json) == "text")
        #expect(try Int(json: 7.json) == 7)
        #expect(try Double(json: 2.5.json) == 2.5)
        #expect(try Double(json: 2) == 2)
        #expect(try Bool(json: true.json))
        #expect(JSON(json: ["a": [1]]) == ["a": [1]])
        #expect(try PathValue(json: PathValue("a b").json).text == "a b")
        #expect(try Units(json: Units.imperial.json) == .imperial)
        #expect(try Optional<Int>(json: nil) == nil)
        #expect(try Optional<Int>(json: Optional<Int>.some(3).json) == 3)
        #expect(Optional<Int>.none.json == .null)
        #expect(try [Int](json: [1, 2].json) == [1, 2])
        #expect(try [String: Int](json: ["b": 2, "a": 1].json) == ["a": 1, "b": 2])
    }

    @Test("A dictionary is written in the order of its names")
    func sortedDictionary() {
        #expect(["b": 2, "a": 1, "c": 3].json.text() == #"{"a":1,"b":2,"c":3}"#)
    }

    @Test("Values of the wrong kind are refused with the kind that is needed")
    func refusals() {
        #expect(thrownMessage { () throws(ValueError) in try String(json: 1) } == "needs text, not an integer")
        #expect(
            thrownMessage { () throws(ValueError) in try Int(json: 1.5) }
                == "needs a whole number, not one with a fraction")
        #expect(thrownMessage { () throws(ValueError) in try Double(json: "1") } == "needs a number, not a string")
        #expect(thrownMessage { () throws(ValueError) in try Bool(json: 1) } == "needs true or false, not an integer")
        #expect(thrownMessage { () throws(ValueError) in try PathValue(json: "") } == "needs a path")
        #expect(thrownMessage { () throws(ValueError) in try Secret(json: 1) } == "needs text, not an integer")
        #expect(
            thrownMessage { () throws(ValueError) in try Units(json: 1) }
                == "needs one of metric, imperial, not an integer")
        #expect(
            thrownMessage { () throws(ValueError) in try Units(json: "metrik") }
                == "needs one of metric, imperial, not 'metrik'; did you mean 'metric'?")
        #expect(thrownMessage { () throws(ValueError) in try [Int](json: 1) } == "needs a list, not an integer")
        #expect(
            thrownMessage { () throws(ValueError) in try [String: Int](json: 1) } == "needs an object, not an integer")
    }

    @Test("An error in a nested value contains its path")
    func nestedRefusals() {
        #expect(
            thrownMessage { () throws(ValueError) in try [[Int]](json: [[1], [2, "x"]]) }
                == "1.1: needs a whole number, not a string")
        #expect(
            thrownMessage { () throws(ValueError) in try [String: [Int]?](json: ["a": nil, "b": [true]]) }
                == "b.0: needs a whole number, not a boolean")
    }

    @Test("Only optional values, lists and maps may be omitted")
    func absence() {
        #expect(String.whenAbsent == nil)
        #expect(Units.whenAbsent == nil)
        #expect(Optional<Int>.whenAbsent == .some(nil))
        #expect([Int].whenAbsent == [])
        #expect([String: Int].whenAbsent == [:])
    }

    @Test("Each type has its schema")
    func schemas() {
        #expect(String.schema == .string)
        #expect(Optional<Int>.schema == .optional(.integer(nil)))
        #expect([Double].schema == .array(.number(nil)))
        #expect([String: Bool].schema == .map(.boolean))
        #expect(Units.schema == .choice(["metric", "imperial"]))
        #expect(PathValue.schema == .path(.any) && ReadPath.schema == .path(.read) && WritePath.schema == .path(.write))
        #expect(OwnPath.schema == .path(.own) && HostValue.schema == .host && SecretName.schema == .secretName)
        #expect(Optional<Secret>.schema == .optional(.secret))
        #expect(JSON.schema == .any)
        #expect(Optional<[Int]>.schema.element == .integer(nil))
        #expect(Optional<Int?>.schema.unwrapped == .integer(nil))
        #expect(!Int.schema.isOptional)
        #expect(Optional<Int>.schema.isOptional)
    }

    @Test("Quoted values in messages are cut to a readable length")
    func quoting() {
        #expect("word".quotedForMessage == "'word'")
        #expect(String(repeating: "x", count: 60).quotedForMessage == "'" + String(repeating: "x", count: 60) + "'")
        #expect(String(repeating: "x", count: 61).quotedForMessage == "'" + String(repeating: "x", count: 60) + "…'")
    }
}
