import Capabilities
import JSON
import Settings
import Testing

@Suite("Settings with a range")
struct RangeTests {
    private static let temperature = Setting<Double?>("temperature", "How freely", in: 0...2)
    private static let tokens = Setting<Int?>("tokens", "How long", in: 1 ... .max)
    private static let depth = Setting("depth", "How deep", in: 1...9, default: 3)
    private static let share = Setting("share", "How much", in: 0...1.0, default: 0.5)

    @Test(
        "A value outside the range is refused, in a word and in a file",
        arguments: [
            (temperature.declaration, "2.5", "must be from 0.0 to 2.0, not 2.5"),
            (temperature.declaration, "-0.1", "must be from 0.0 to 2.0, not -0.1"),
            (tokens.declaration, "0", "must be at least 1, not 0"),
            (depth.declaration, "10", "must be from 1 to 9, not 10"),
            (share.declaration, "1.5", "must be from 0.0 to 1.0, not 1.5"),
        ])
    func outside(declaration: SettingDeclaration, word: String, message: String) throws {
        let problem = #expect(throws: ValueError.self) { try declaration.schema.json(fromWord: word) }
        #expect(problem?.message == message)
        #expect(declaration.schema.problems(in: try JSON(parsing: word)).map(\.message) == [message])
    }

    @Test("A value inside the range is accepted, and none if it is optional") func within() {
        #expect(Self.temperature.declaration.schema.problems(in: 2) == [])
        #expect(Self.temperature.declaration.schema.problems(in: .null) == [])
        #expect(Self.tokens.declaration.schema.problems(in: 1_000_000) == [])
        #expect(Self.tokens.declaration.defaultValue == .null && Self.depth.declaration.defaultValue == 3)
    }
}
