import JSON
import Testing

@Suite("Lenient JSON reading")
struct StreamReadingTests {
    @Test("Of equal keys the last value counts, at the place of the first", arguments: [2, 30])
    func duplicates(count: Int) throws {
        let members = (0..<count).map { "\"k\($0)\":\($0)" } + ["\"k0\":\"last\"", "\"k1\":\"last\""]
        let value = try JSON(parsing: "{" + members.joined(separator: ",") + "}", reading: .stream)
        #expect(value.object?.keys == (0..<count).map { "k\($0)" })
        #expect(value["k0"] == "last")
        #expect(value["k1"] == "last")
    }

    @Test("Invalid UTF-8 is repaired, in plain and in escaped strings")
    func badUTF8() throws {
        #expect(try JSON(parsing: [0x22, 0x61, 0xFF, 0x62, 0x22], reading: .stream) == "a\u{FFFD}b")
        #expect(try JSON(parsing: [0x22, 0x5C, 0x6E, 0xE2, 0x82, 0x22], reading: .stream) == "\n\u{FFFD}")
        let key: [UInt8] = [0x7B, 0x22, 0x80, 0x22, 0x3A, 0x31, 0x7D]
        #expect(try JSON(parsing: key, reading: .stream) == ["\u{FFFD}": 1])
    }

    @Test(
        "An unpaired surrogate is replaced",
        arguments: [
            (#""\ud800""#, "\u{FFFD}"), (#""\udc00\ud800x""#, "\u{FFFD}\u{FFFD}x"), (#""\ud800\u0041""#, "\u{FFFD}A"),
            (#""\ud800\ud83d\ude00""#, "\u{FFFD}😀"), (#""\ud800\n""#, "\u{FFFD}\n"),
        ])
    func surrogates(text: String, value: String) throws {
        #expect(try JSON(parsing: text, reading: .stream) == .string(value))
    }

    @Test(
        "Other errors are not repaired",
        arguments: ["{a:1}", "[1,]", "\"\u{1}\"", "01", "\u{FEFF}1", "1e999", "'a'", "1 1"])
    func strict(text: String) {
        #expect(throws: JSONError.self) { try JSON(parsing: text, reading: .stream) }
    }
}
