import JSON
import TOMLKit
import Testing

/// Texts and what they mean.
struct TOMLDocumentTests {
    private func value(_ text: String, _ limits: TOMLLimits = TOMLLimits()) throws -> JSON {
        try TOMLDocument(parsing: Array(text.utf8), name: "x.toml", limits: limits).value
    }

    @Test(
        "A text is read as the value that it means",
        arguments: [
            ("", [:]), ("\u{FEFF}a = 1", ["a": 1]), ("# only a comment", [:]),
            ("a = 1 # one\r\nb = 2\r\n", ["a": 1, "b": 2]),
            ("\"\" = 1\n'a.b'.\"c\" = 2", ["": 1, "a.b": ["c": 2]]), ("1.2 = 3", ["1": ["2": 3]]),
            ("a = [1, [2, 'x',], # c\n\n]", ["a": [1, [2, "x"]]]),
            ("a = {b.c = 1, b.d = {}}", ["a": ["b": ["c": 1, "d": [:]]]]),
            ("a.b = 1\na.c = 2\n[d.e]\nf = 3\n[d]\ng = 4", ["a": ["b": 1, "c": 2], "d": ["e": ["f": 3], "g": 4]]),
            ("[[a]]\nb = 1\n[[a]]\n[a.c]\nd = 2", ["a": [["b": 1], ["c": ["d": 2]]]]),
            ("a = 0x_f", nil),
            ("a = 0xFf\nb = 0o17\nc = 0b101\nd = 1_000\ne = -0", ["a": 255, "b": 15, "c": 5, "d": 1000, "e": 0]),
            ("a = 1.5\nb = -2e3\nc = 1_0.0_1E+0_2", ["a": 1.5, "b": -2000.0, "c": 1001.0]),
            ("a = inf\nb = -inf\nc = +nan", ["a": "inf", "b": "-inf", "c": "nan"]),
            ("a = 9223372036854775807\nb = -9223372036854775808", ["a": .int(.max), "b": .int(.min)]),
            (#"a = "\b\t\n\f\r\"\\\u00e9\U0001F600""#, ["a": "\u{8}\t\n\u{C}\r\"\\é😀"]),
            (#"a = 'c:\x'"#, ["a": #"c:\x"#]),
            ("a = \"\"\"\nb\\  \n\n   c\"\"\"\"\"", ["a": "bc\"\""]), ("a = '''\r\nb\r\nc''d'''", ["a": "b\nc''d"]),
            (
                "a = 1979-05-27 07:32:00.5z\nb = 2000-02-29\nc = 07:32:00\nd = 1979-05-27t00:00:00+01:30",
                ["a": "1979-05-27T07:32:00.5Z", "b": "2000-02-29", "c": "07:32:00", "d": "1979-05-27T00:00:00+01:30"]
            ),
            // The same text for a person, but not the same key.
            ("\"\u{e9}\" = 1\n\"e\u{301}\" = 2", JSON.object(JSONObject([("\u{e9}", 1), ("e\u{301}", 2)]))),
        ] as [(String, JSON?)])
    func reads(_ text: String, _ expected: JSON?) throws {
        guard let expected else {
            #expect(throws: TOMLError.self) { try value(text) }
            return
        }
        #expect(try value(text) == expected)
    }

    @Test(
        "What is wrong is told with its kind and place",
        arguments: [
            ("a", .syntax, 1, 2, "'='"), ("a = ", .syntax, 1, 5, "end of the text"), ("a = b", .syntax, 1, 5, "quotes"),
            ("= 1", .syntax, 1, 1, "key"), ("a = 1 b = 2", .syntax, 1, 7, "end here"),
            ("a = 01", .syntax, 1, 5, "'01'"),
            ("a = 1__0", .syntax, 1, 5, "value"), ("a = .5", .syntax, 1, 5, "value"),
            ("a = 5.", .syntax, 1, 5, "value"),
            ("a = +0x1", .syntax, 1, 5, "value"), ("a = 2001-02-30", .syntax, 1, 5, "value"),
            ("a = 24:00:00", .syntax, 1, 5, "value"),
            ("é = 1", .syntax, 1, 1, "'é'"), ("a = \"é\\x\"", .syntax, 1, 7, "escape"),
            ("a = \"\\ud800\"", .syntax, 1, 6, "4 digits"),
            ("a = \"b\nc\"", .syntax, 1, 5, "no end"), ("a = '''b", .syntax, 1, 5, "no end"),
            ("a = \"\u{1}\"", .syntax, 1, 6, "control"),
            ("# \u{7F}", .syntax, 1, 3, "control"), ("a = 1\rb = 2", .syntax, 1, 6, "carriage return"),
            ("[a", .syntax, 1, 3, "']'"), ("[[a]", .syntax, 1, 4, "']]'"), ("[]", .syntax, 1, 2, "key"),
            ("[a.]", .syntax, 1, 4, "key"),
            ("a = [1 2]", .syntax, 1, 8, "','"), ("a = {b = 1,}", .syntax, 1, 12, "key"),
            ("a = {b = 1\n}", .syntax, 1, 11, "end of the line"),
            ("a = 1\na = 2", .duplicateKey, 2, 1, "twice"), ("[a]\n[a]", .duplicateKey, 2, 1, "twice"),
            ("a.b = 1\n[a]", .duplicateKey, 2, 1, "twice"), ("a = 1\n[a.b]", .duplicateKey, 2, 1, "value"),
            ("a = {}\n[a.b]", .duplicateKey, 2, 1, "value"), ("a = []\n[[a]]", .duplicateKey, 2, 1, "value"),
            ("[[a]]\n[a]", .duplicateKey, 2, 1, "array of tables"),
            ("[a.b]\nc = 1\n[a]\nb.d = 2", .duplicateKey, 4, 1, "header"),
            ("a = 9223372036854775808", .number, 1, 5, "64 bits"), ("a = 1e999", .number, 1, 5, "too large"),
        ] as [(String, TOMLError.Kind, Int, Int, String)])
    func refuses(_ text: String, _ kind: TOMLError.Kind, _ line: Int, _ column: Int, _ words: String) throws {
        let error = try #require(throws: TOMLError.self) { try value(text) }
        #expect(
            error.kind == kind && error.line == line && error.column == column && error.message.contains(words),
            "\(error)")
        #expect(error.located(in: "x.toml").hasPrefix("x.toml:\(line):\(column): "))
    }

    @Test("A text that is not UTF-8 is refused at its first wrong byte")
    func encoding() throws {
        let error = try #require(throws: TOMLError.self) {
            try TOMLDocument(parsing: Array("a = \"é".utf8) + [0xFF, 0x22], name: "x")
        }
        #expect(error.kind == .syntax && error.column == 7)
    }

    @Test("What exceeds a limit is refused with the limit, and what does not is read")
    func limits() throws {
        var limits = TOMLLimits()
        (limits.bytes, limits.values, limits.depth) = (40, 4, 3)
        for text in ["a = [1, 2]", "a.b.c = 1", "[a.b.c]", "a = [[[1]]]", "[[a.b]]"] { _ = try value(text, limits) }
        for text in [
            "a = [1, 2, 3, 4]", "a.b.c.d = 1", "[a.b.c.d]", "a = [[[[]]]]", "[[a.b.c]]", "a = {b.c.d = {e = 1}}",
            String(repeating: " ", count: 41), "[a.b.c]\nd.e = 1",
        ] {
            let error = try #require(throws: TOMLError.self, "\(text)") { try value(text, limits) }
            #expect(error.kind == .limit, "\(text)")
        }
        let tables = try #require(throws: TOMLError.self) { try value("[a.b]\n[c.d]\ne = 1", limits) }
        #expect(tables.kind == .limit, "Tables count, also those that only a path names.")
        // Nothing is deep enough to exhaust the stack.
        let deep = String(repeating: "[", count: 1_000_000)
        #expect(throws: TOMLError.self) { try value("a = " + deep) }
        #expect(throws: TOMLError.self) { try value(deep.replacing("[", with: "a.") + "a = 1") }
    }
}
