import JSON
import Testing

@Suite("JSON")
struct JSONValueTests {
    @Test("JSON values of every kind can be written as literals")
    func literals() {
        let name = "web"
        let value: JSON = ["a": nil, "b": true, "c": 1, "d": 2.5, "e": "host \(name)", "f": [1, "x"], "g": [:]]
        #expect(value["a"] == .null)
        #expect(value["b"] == .bool(true))
        #expect(value["c"] == .int(1))
        #expect(value["d"] == .double(2.5))
        #expect(value["e"] == .string("host web"))
        #expect(value["f"] == .array([.int(1), .string("x")]))
        #expect(value["g"] == .object(JSONObject()))
    }

    @Test("Only the accessor of its kind returns a value")
    func accessors() {
        #expect(JSON.null.isNull && !JSON.int(0).isNull)
        #expect(JSON.bool(true).bool == true && JSON.int(1).bool == nil)
        #expect(JSON.int(3).int == 3 && JSON.double(3).int == nil && JSON.big("9").int == nil)
        #expect(JSON.int(3).double == 3 && JSON.double(0.5).double == 0.5 && JSON.string("1").double == nil)
        #expect(JSON.big("10000000000000000000000").double == 1e22)
        #expect(JSON.string("x").string == "x" && JSON.null.string == nil)
        #expect(JSON.array([1]).array == [1] && JSON.null.array == nil)
        #expect(JSON.object(["a": 1]).object == ["a": 1] && JSON.null.object == nil)
    }

    @Test("A missing member or element is nil")
    func subscripts() {
        let value: JSON = ["list": [1, 2]]
        #expect(value["list"]?[1] == 2)
        #expect(value["list"]?[2] == nil)
        #expect(value["list"]?[-1] == nil)
        #expect(value["none"] == nil)
        #expect(value["list"]?["key"] == nil)
        #expect(value[0] == nil)
    }

    @Test(
        "The kind of a value is named with an article",
        arguments: [
            (JSON.null, "null"), (true, "a boolean"), (1, "an integer"), (.big("1"), "an integer"), (1.5, "a number"),
            ("", "a string"), ([], "an array"), ([:], "an object"),
        ] as [(JSON, String)])
    func kindName(value: JSON, name: String) {
        #expect(value.kindName == name)
    }
}
