import JSON
import Settings
import Testing

@Suite("The text of a settings file")
struct FileTests {
    private func layer(_ text: [UInt8]) throws(SettingsProblem) -> SettingsLayer {
        try SettingsLayer(origin: .user(file: "user.json"), text: text)
    }

    private func refusal(_ text: [UInt8]) -> String? {
        do {
            _ = try layer(text)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(
        "may be empty, or hold nothing but space and comments",
        arguments: ["", " \n", "// nothing yet\n", "/* */", "{}"])
    func empty(text: String) throws {
        #expect(try layer(Array(text.utf8)).value.isEmpty)
    }

    @Test("may have comments, trailing commas and bare keys")
    func comfortable() throws {
        let text = "// mine\n{chat: {model: 'large', /* why */ \"max-rounds\": 0x10,},}"
        #expect(try layer(Array(text.utf8)).value == ["chat": ["model": "large", "max-rounds": 16]])
    }

    @Test("may begin with a byte order mark, as some editors write it")
    func byteOrderMark() throws {
        #expect(try layer([0xEF, 0xBB, 0xBF] + Array("{chat: {}}".utf8)).value == ["chat": [:]])
    }

    @Test(
        "is refused when it is no object",
        arguments: [("[]", "an array"), ("'x'", "a string"), ("12", "an integer"), ("null", "null")])
    func noObject(text: String, kind: String) {
        #expect(refusal(Array(text.utf8)) == "user.json:1:1: settings must be an object in braces, not \(kind)")
    }

    @Test(
        "is refused with the place where it stops being JSON5",
        arguments: [
            ("{\n  chat: {model: 'a' units: 'b'}\n}", "user.json:2:21: "), ("{", "user.json:1:2: "),
            ("{chat: {}", "user.json:1:10: "), ("{} {}", "user.json:1:4: "), ("{a: 1,\n b: nope}", "user.json:2:5: "),
            ("{a: 1, a: 2}", "user.json:1:8: "), ("{a: 'x\n'}", "user.json:1:7: "),
            ("{a: Infinity}", "user.json:1:5: "),
        ])
    func syntax(text: String, place: String) throws {
        let message = try #require(refusal(Array(text.utf8)))
        #expect(message.hasPrefix(place), "\(message)")
    }

    @Test(
        "is refused where it is not UTF-8",
        arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) throws {
        let message = try #require(refusal(Array("{\na: '".utf8) + bytes + Array("'}".utf8)))
        #expect(message.hasPrefix("user.json:2:5: "), "\(message)")
        #expect(message.contains("UTF-8"))
    }

    @Test("is refused when it nests too deep, and crashes nothing", arguments: [65, 100_000])
    func deep(depth: Int) throws {
        let message = try #require(refusal(Array("{a: ".utf8) + Array(repeating: UInt8(ascii: "["), count: depth)))
        #expect(message.contains("nest deeper than 64"), "\(message)")
    }
}
