import JSON
import Testing

@Suite("JSON5 reading")
struct JSON5Tests {
    @Test(
        "JSON5 reading accepts the whole grammar",
        arguments: [
            ("// c\n1", 1), ("1 // c", 1), ("/* a * / ** */ 1 /**/", 1), ("[/**/1/**/,/**/2/**/,/**/]", [1, 2]),
            ("// c\r[1]", [1]), ("// c\u{2028}[1]", [1]), ("[1,]", [1]), ("{a:1,}", ["a": 1]), ("[]", []), ("{}", [:]),
            ("{$a_1: 1, _: 2, é: 3, \"q\": 4, 's': 5}", ["$a_1": 1, "_": 2, "é": 3, "q": 4, "s": 5]),
            ("{null: 1, true: 2, Infinity: 3, NaN: 4}", ["null": 1, "true": 2, "Infinity": 3, "NaN": 4]),
            ("{\\u0061b\\u0031: 1, ab\u{200D}: 2, a\u{301}: 3}", ["ab1": 1, "ab\u{200D}": 2, "a\u{301}": 3]),
            ("'it\\'s \"it\"'", "it's \"it\""), ("\"it's\"", "it's"), ("'a\\\nb\\\r\nc\\\rd\\\u{2028}e'", "abcde"),
            ("'\\v\\0\\x41\\u00e9\\ud83d\\ude00\\a\\'\\\"\\/\\é'", "\u{B}\0Aé😀a'\"/é"), ("'\t\u{2028}'", "\t\u{2028}"),
            ("+1", 1), ("-1", -1), (".5", 0.5), ("5.", 5.0), ("+.5e1", 5.0), ("-5.E-1", -0.5), ("0", 0), ("-0", 0),
            ("0x1F", 31), ("-0Xff", -255), ("+0x7fffffffffffffff", .int(.max)), ("-0x8000000000000000", .int(.min)),
            ("0xffffffffffffffff", .big("18446744073709551615")),
            ("+99999999999999999999", .big("99999999999999999999")),
            ("0.0", 0.0), ("0e1", 0.0), ("\u{FEFF}{}", [:]),
            ("\u{A0}\u{B}\u{C}\u{2029}\u{3000}\u{FEFF}[\u{1680}1]", [1]),
            ("[null,true,false]", [nil, true, false]),
        ] as [(String, JSON)])
    func accepts(text: String, value: JSON) throws {
        #expect(try JSON(parsing: text, reading: .json5) == value)
    }

    @Test(
        "JSON5 reading refuses everything else, with reason and position",
        arguments: [
            ("", .syntax, 0, "expected a value, found the end of the text"),
            ("// only", .syntax, 7, "expected a value, found the end of the text"),
            ("/* open", .syntax, 0, "the comment has no closing */"),
            ("/*/", .syntax, 0, "the comment has no closing */"),
            ("[,]", .syntax, 1, "expected a value, found ','"),
            ("[1,,]", .syntax, 3, "expected a value, found ','"),
            ("{,}", .syntax, 1, "expected a key, found ','"),
            ("{a b}", .syntax, 3, "expected ':' after the key, found 'b'"),
            ("{1: 2}", .syntax, 1, "expected a key, found '1'"),
            ("{a-b: 2}", .syntax, 2, "expected ':' after the key, found '-'"),
            ("{\\u0031: 2}", .syntax, 1, "expected a key, found '\\'"),
            ("{\\x41: 2}", .syntax, 2, "unknown escape: 'x' after a backslash"),
            ("[1 2]", .syntax, 3, "expected ',' or ']' after the value, found '2'"),
            ("{a: 1 b: 2}", .syntax, 6, "expected ',' or '}' after the value, found 'b'"),
            ("{a: web1}", .syntax, 4, "unknown word at 'w'; a string needs quotes"),
            ("[undefined]", .syntax, 1, "unknown word at 'u'; a string needs quotes"),
            ("'abc\"", .syntax, 0, "the string has no closing quote"),
            ("'abc\\", .syntax, 0, "the string has no closing quote"),
            (
                "'a\nb'", .syntax, 2,
                "a string cannot hold a line break; write \\n, or end the line with a backslash"
            ),
            ("'\\1'", .syntax, 2, "unknown escape: '1' after a backslash"),
            ("'\\01'", .syntax, 2, "unknown escape: '0' after a backslash"),
            ("'\\xg1'", .syntax, 3, "expected a hexadecimal digit in the escape, found 'g'"),
            ("'\\ud800'", .encoding, 1, "the escape is only half of a surrogate pair"),
            ("01", .number, 0, "a number cannot have a leading zero"),
            ("+", .number, 1, "expected a digit, found the end of the text"),
            ("- 1", .number, 1, "expected a digit, found a space"),
            ("--1", .number, 1, "expected a digit, found '-'"),
            (".", .number, 1, "expected a digit, found the end of the text"),
            (".e1", .number, 1, "expected a digit, found 'e'"),
            ("1e", .number, 2, "expected a digit, found the end of the text"),
            ("0x", .number, 2, "expected a digit, found the end of the text"),
            ("-abc", .number, 1, "expected a digit, found 'a'"),
            ("0x10000000000000000", .number, 0, "the hexadecimal number does not fit in 64 bits; write it in decimal"),
            ("1e999", .number, 0, "the number is too large for a double"),
            (
                "[Infinity]", .number, 1,
                "Infinity and NaN are not JSON values; use a finite number, a string or null"
            ),
            ("-Infinity", .number, 0, "Infinity and NaN are not JSON values; use a finite number, a string or null"),
            ("+NaN", .number, 0, "Infinity and NaN are not JSON values; use a finite number, a string or null"),
            ("{a: 1, 'a': 2}", .duplicateKey, 7, "the key \"a\" is already in this object; remove one of the two"),
            ("1 1", .syntax, 2, "expected nothing more after the value, found '1'"),
            ("0x1G", .syntax, 3, "expected nothing more after the value, found 'G'"),
        ] as [(String, JSONError.Code, Int, String)])
    func refuses(text: String, code: JSONError.Code, offset: Int, message: String) throws {
        let error = try #require(throws: JSONError.self) { try JSON(parsing: text, reading: .json5) }
        #expect(error.code == code)
        #expect(error.offset == offset)
        #expect(error.message == message)
    }

    @Test("JSON5 reading refuses invalid UTF-8, also in comments")
    func badUTF8() throws {
        let error = try #require(throws: JSONError.self) { try JSON(parsing: [0x2F, 0x2F, 0xFF], reading: .json5) }
        #expect(error.code == .encoding)
        #expect(error.offset == 2)
    }
}
