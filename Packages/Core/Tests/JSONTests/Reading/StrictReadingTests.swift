import JSON
import Testing

@Suite("Strict JSON reading")
struct StrictReadingTests {
    @Test(
        "Strict reading accepts what RFC 8259 allows",
        arguments: [
            ("null", .null), (" \t\r\n true ", true), ("false", false), ("0", 0), ("-0", 0), ("-12", -12), ("0.5", 0.5),
            ("1e2", 100.0), ("1E+2", 100.0), ("-1.5e-3", -0.0015), ("1.0", 1.0), ("\"\"", ""), ("[]", []), ("{}", [:]),
            ("[1,[2,[3]]]", [1, [2, [3]]]), ("{\"\":{\"a\":[]}}", ["": ["a": []]]), ("[ 1 , 2 ]", [1, 2]),
            ("{ \"a\" : 1 }", ["a": 1]), ("\"\u{7F}\u{2028}é😀\"", "\u{7F}\u{2028}é😀"),
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u20AC\uD83D\ude00\u0000""#, "Aé€😀\0"),
            (#""1234567\n""#, "1234567\n"), (#""12345678\n123456789""#, "12345678\n123456789"),
            ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
            ("9223372036854775808", .big("9223372036854775808")), ("1000000000000000000", 1_000_000_000_000_000_000),
            ("-123456789012345678901234567890", .big("-123456789012345678901234567890")),
            ("\"\u{FFFF}\u{10FFFF}\"", "\u{FFFF}\u{10FFFF}"),
        ] as [(String, JSON)])
    func accepts(text: String, value: JSON) throws {
        #expect(try JSON(parsing: text) == value)
        #expect(try JSON(parsing: Array(text.utf8), reading: .stream) == value)
        #expect(try JSON(parsing: text, reading: .json5) == value)
    }

    @Test(
        "Strict reading refuses what RFC 8259 does not allow, with reason and position",
        arguments: [
            ("", .syntax, 0, "expected a value, found the end of the text"),
            (" ", .syntax, 1, "expected a value, found the end of the text"),
            ("nul", .syntax, 0, "expected a value, found 'n'"),
            ("True", .syntax, 0, "expected a value, found 'T'"),
            ("nullx", .syntax, 4, "expected nothing more after the value, found 'x'"),
            ("1 2", .syntax, 2, "expected nothing more after the value, found '2'"),
            ("[1,]", .syntax, 3, "expected a value, found ']'"),
            ("[,1]", .syntax, 1, "expected a value, found ','"),
            ("[1", .syntax, 2, "expected ',' or ']' after the value, found the end of the text"),
            ("[1}", .syntax, 2, "expected ',' or ']' after the value, found '}'"),
            ("{\"a\":1,}", .syntax, 7, "expected a key in double quotes, found '}'"),
            ("{a:1}", .syntax, 1, "expected a key in double quotes, found 'a'"),
            ("{\"a\" 1}", .syntax, 5, "expected ':' after the key, found '1'"),
            ("{\"a\":}", .syntax, 5, "expected a value, found '}'"),
            ("{\"a\":1 \"b\":2}", .syntax, 7, "expected ',' or '}' after the value, found '\"'"),
            ("// c\n1", .syntax, 0, "expected a value, found '/'"),
            ("'a'", .syntax, 0, "expected a value, found \"'\""),
            ("\u{1}", .syntax, 0, "expected a value, found U+0001"),
            ("é", .syntax, 0, "expected a value, found 'é' (U+00E9)"),
            ("\u{202E}", .syntax, 0, "expected a value, found U+202E"),
            ("\0", .syntax, 0, "expected a value, found U+0000"),
            ("1\0", .syntax, 1, "expected nothing more after the value, found U+0000"),
            ("\"abc", .syntax, 0, "the string has no closing quote"),
            ("\"a\nb\"", .syntax, 2, "a string cannot hold the control character U+000A; escape it"),
            ("\"12345678\u{1F}\"", .syntax, 9, "a string cannot hold the control character U+001F; escape it"),
            ("\"\0\"", .syntax, 1, "a string cannot hold the control character U+0000; escape it"),
            (#""\x41""#, .syntax, 2, "unknown escape: 'x' after a backslash"),
            (#""\u12G4""#, .syntax, 5, "expected a hexadecimal digit in the escape, found 'G'"),
            (#""\u12"#, .syntax, 5, "the string has no closing quote"),
            (#""\ud800""#, .encoding, 1, "the escape is only half of a surrogate pair"),
            (#""\udc00\ud800""#, .encoding, 1, "the escape is only half of a surrogate pair"),
            (#""\ud800\u0041""#, .encoding, 1, "the escape is only half of a surrogate pair"),
            ("\u{FEFF}1", .encoding, 0, "the text starts with a byte order mark; remove it"),
            ("01", .number, 0, "a number cannot have a leading zero"),
            ("-01", .number, 1, "a number cannot have a leading zero"),
            ("-", .number, 1, "expected a digit, found the end of the text"),
            ("1.", .number, 2, "expected a digit, found the end of the text"),
            ("1.e1", .number, 2, "expected a digit, found 'e'"),
            ("1e", .number, 2, "expected a digit, found the end of the text"),
            ("[1e+]", .number, 4, "expected a digit, found ']'"),
            ("+1", .syntax, 0, "expected a value, found '+'"),
            (".5", .syntax, 0, "expected a value, found '.'"),
            ("0x10", .syntax, 1, "expected nothing more after the value, found 'x'"),
            ("NaN", .syntax, 0, "expected a value, found 'N'"),
            ("-Infinity", .number, 1, "expected a digit, found 'I'"),
            ("1e999", .number, 0, "the number is too large for a double"),
            ("-1e400", .number, 0, "the number is too large for a double"),
            ("{\"a\":1,\"a\":1}", .duplicateKey, 7, "the key \"a\" is already in this object; remove one of the two"),
        ] as [(String, JSONError.Code, Int, String)])
    func refuses(text: String, code: JSONError.Code, offset: Int, message: String) throws {
        let error = try #require(throws: JSONError.self) { try JSON(parsing: text) }
        #expect(error.code == code)
        #expect(error.offset == offset)
        #expect(error.message == message)
    }

    @Test(
        "Invalid UTF-8 is refused at its first byte",
        arguments: [
            ([0x22, 0xFF, 0x22], 1), ([0x22, 0x61, 0xC3, 0x22], 2), ([0x22, 0xC0, 0x80, 0x22], 1),
            ([0x22, 0xED, 0xA0, 0x80, 0x22], 1), ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1),
            ([0x22, 0x5C, 0x6E, 0xE2, 0x82, 0x22], 3), ([0x5B, 0x22, 0xC3, 0xA9, 0x80, 0x22, 0x5D], 4),
        ] as [([UInt8], Int)])
    func refusesBadUTF8(bytes: [UInt8], offset: Int) throws {
        let error = try #require(throws: JSONError.self) { try JSON(parsing: bytes) }
        #expect(error.code == .encoding)
        #expect(error.offset == offset)
        #expect(error.message == "the text is not UTF-8 here; save it as UTF-8")
    }

    @Test("An invalid byte outside strings is named")
    func strayByte() throws {
        let error = try #require(throws: JSONError.self) { try JSON(parsing: [0x5B, 0xFF]) }
        #expect(error.message == "expected a value, found the byte 0xFF")
    }

    @Test("Equal keys are found in objects of any size, however they are escaped", arguments: [1, 15, 16, 17, 18, 100])
    func duplicates(count: Int) throws {
        let members = (0..<count).map { "\"k\($0)\":\($0)" }
        for place in [0, count / 2, count - 1] {
            let text = "{" + (members + [#""\u006b\#(place)":0"#]).joined(separator: ",") + "}"
            let error = try #require(throws: JSONError.self) { try JSON(parsing: text) }
            #expect(error.code == .duplicateKey)
            #expect(error.message.contains("\"k\(place)\""))
        }
        let value = try JSON(parsing: "{" + members.joined(separator: ",") + "}")
        #expect(value["k\(count - 1)"] == .int(count - 1))
        #expect(value.object?.count == count)
    }
}
