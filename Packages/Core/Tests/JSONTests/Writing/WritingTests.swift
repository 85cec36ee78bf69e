import JSON
import Testing

@Suite("JSON writing")
struct WritingTests {
    @Test("Output is compact by default")
    func compact() {
        let value: JSON = ["b": [1, 2.5, "x"], "a": [:], "c": [nil, true, false, []]]
        #expect(value.text() == #"{"b":[1,2.5,"x"],"a":{},"c":[null,true,false,[]]}"#)
        #expect(value.description == value.text())
    }

    @Test("Output can have one member per line")
    func pretty() {
        let value: JSON = ["b": [1, ["x": nil]], "a": [:], "c": []]
        let text = """
            {
              "b": [
                1,
                {
                  "x": null
                }
              ],
              "a": {},
              "c": []
            }
            """
        #expect(value.text(.pretty) == text)
    }

    @Test("Members can be sorted at every level")
    func sorted() {
        let value: JSON = ["b": ["z": 1, "y": 2], "a": 3, "": 4]
        #expect(value.text(.sorted) == #"{"":4,"a":3,"b":{"y":2,"z":1}}"#)
        #expect(value.text([.sorted, .pretty]).hasPrefix("{\n  \"\": 4,\n  \"a\": 3,"))
    }

    @Test("Characters that JSON forbids, and line breaks of JavaScript, are escaped")
    func escapes() {
        let text = "\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}é😀\u{2027}\u{2028}\u{2029}\u{202A}'"
        let written = #""\"\\/\b\f\n\r\t\u0000\u001f"# + "\u{7F}é😀\u{2027}" + #"\u2028\u2029"# + "\u{202A}'\""
        #expect(JSON.string(text).text() == written)
        #expect(JSON.object([text: 1]).text() == "{\(written):1}")
    }

    @Test(
        "A double is written in the shortest form that reads as the same double",
        arguments: [
            (0.1, "0.1"), (1, "1.0"), (-0.0, "-0.0"), (1e21, "1e+21"), (.leastNonzeroMagnitude, "5e-324"),
            (1e16, "1e+16"),
            (123456789.125, "123456789.125"), (.infinity, "null"), (.nan, "null"),
        ] as [(Double, String)])
    func doubles(value: Double, text: String) throws {
        #expect(JSON.double(value).text() == text)
        #expect(try !value.isFinite || JSON(parsing: text) == .double(value))
    }

    @Test("A large integer is written as it was read, and invalid digits as null")
    func big() {
        #expect(JSON.big("-123456789012345678901").text() == "-123456789012345678901")
        for digits in ["", "-", "1,2", "01", "1e5", "x"] { #expect(JSON.big(digits).text() == "null") }
    }

    @Test("Output is appended to existing bytes")
    func appending() {
        var bytes = Array("data: ".utf8)
        JSON.array([1]).write(into: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "data: [1]")
    }
}
