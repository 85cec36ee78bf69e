import JSON
import Settings
import Testing

@Suite("Settings file text")
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
        "A file may be empty, or contain only space and comments",
        arguments: ["", " \n", "// nothing yet\n", "/* */", "{}"])
    func empty(text: String) throws {
        #expect(try layer(Array(text.utf8)).value.isEmpty)
    }

    @Test("A file may have comments, trailing commas and bare keys")
    func comfortable() throws {
        let text = "// mine\n{chat: {model: 'large', /* why */ \"max-rounds\": 0x10,},}"
        #expect(try layer(Array(text.utf8)).value == ["chat": ["model": "large", "max-rounds": 16]])
    }

    @Test("A file may begin with a byte order mark, as some editors write it")
    func byteOrderMark() throws {
        #expect(try layer([0xEF, 0xBB, 0xBF] + Array("{chat: {}}".utf8)).value == ["chat": [:]])
    }

    @Test(
        "A file that is not an object is refused",
        arguments: [("[]", "an array"), ("'x'", "a string"), ("12", "an integer"), ("null", "null")])
    func noObject(text: String, kind: String) {
        #expect(refusal(Array(text.utf8)) == "user.json:1:1: settings must be an object in braces, not \(kind)")
    }

    @Test(
        "A file that is not JSON5 is refused with the position",
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
        "A file that is not UTF-8 is refused",
        arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) throws {
        let message = try #require(refusal(Array("{\na: '".utf8) + bytes + Array("'}".utf8)))
        #expect(message.hasPrefix("user.json:2:5: "), "\(message)")
        #expect(message.contains("UTF-8"))
    }

    @Test("A file that nests too deeply is refused without a crash", arguments: [65, 100_000])
    func deep(depth: Int) throws {
        let message = try #require(refusal(Array("{a: ".utf8) + Array(repeating: UInt8(ascii: "["), count: depth)))
        #expect(message.contains("nested deeper than the limit of 64"), "\(message)")
    }
}
