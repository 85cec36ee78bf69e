import Capabilities
import JSON
import Testing

@testable import Registry

@Suite("Contradictory actions")
struct ContradictionsTests {
    /// A value whose schema is a choice without options.
    private struct NoChoice: InputValue {
        static var schema: Schema { .choice([]) }
        init(json: JSON) {}
    }

    private static func made(_ id: String = "demo.do", _ summary: String = "Does it") -> Action {
        Action(id, summary, .reads) { _ in Nothing() }
    }

    private static func taking<each Value: InputValue>(_ parameter: repeat Parameter<each Value>) -> Action {
        Action("demo.do", "Does it", .reads, repeat each parameter) { (_, _: repeat each Value) in Nothing() }
    }

    @Test("A malformed id is reported", arguments: ["", "Demo.do", "demo..do", "demo.do.", "demo do", "demo._do"])
    func id(id: String) {
        #expect(Self.made(id).contradictions == ["has a malformed id; ids are lower-case words joined by dots"])
    }

    @Test("A bad summary is reported", arguments: ["", "Does it."])
    func summary(summary: String) {
        #expect(Self.made("demo.do", summary).contradictions == ["needs a summary of one line without a final stop"])
    }

    @Test("A destructive flag that the action does not have is reported")
    func destroying() {
        let flag = Self.taking(.flag("all", "All of it"))
        #expect(flag.destroying(with: "all").contradictions == [])
        #expect(
            flag.destroying(with: "all").forModels().contradictions == [
                "is offered to models and destroys something"
            ])
        #expect(flag.destroying(with: "al").contradictions == ["destroys with --al, which is not one of its flags"])
    }

    @Test("An action for models that could read, send or change too much is reported")
    func models() {
        #expect(Self.made().forModels().contradictions == [])
        let writing = Action("demo.do", "Does it", .writes) { _ in Nothing() }.forModels()
        #expect(writing.contradictions == ["is offered to models and writes something"])
        let reading = Self.taking(.argument("file", "Which file", as: ReadPath?.self)).forModels()
        #expect(reading.contradictions == ["is offered to models and takes file from them"])
        let several = Self.taking(.argument("file", "Which files", as: [OwnPath].self)).forModels()
        #expect(several.contradictions == ["is offered to models and takes file from them"])
        let anything = Self.taking(.argument("file", "What", as: JSON.self)).forModels()
        #expect(anything.contradictions == ["is offered to models and takes file from them"])
        let knowing = Self.taking(.secret("key", "The key") as Parameter<Secret>).forModels()
        #expect(knowing.contradictions == ["is offered to models and takes key from them"])
    }

    @Test("A malformed alias is reported", arguments: ["", "two words", "a.b", "-a", "A"])
    func alias(alias: String) {
        #expect(Self.made().alias(alias).contradictions == ["has the malformed alias \(alias)"])
    }

    @Test("A malformed parameter name is reported", arguments: ["", "Name", "a b", "a.b", "a_b", "-a", "a-"])
    func name(name: String) {
        #expect(
            Self.taking(.argument(name, "X")).contradictions == ["has a parameter with the malformed name \(name)"])
    }

    @Test("Two parameters of the same name are reported")
    func twice() {
        #expect(
            Self.taking(.argument("a", "X"), .flag("a", "Y")).contradictions == ["has two parameters named a"])
    }

    @Test("An option that every command has is reported", arguments: Action.reservedNames.sorted())
    func reserved(name: String) {
        let expected = ["has the option --\(name), which every command has already"]
        #expect(Self.taking(.flag(name, "X")).contradictions == expected)
        #expect(Self.taking(.option(name, "X", as: String.self)).contradictions == expected)
        #expect(Self.taking(.argument(name, "X")).contradictions.isEmpty)
    }

    @Test("A letter that every command has is reported", arguments: Action.reservedLetters.sorted())
    func reserved(letter: Character) {
        #expect(
            Self.taking(.flag("a", "X", short: String(letter))).contradictions
                == ["has the letter -\(letter), which every command has already"])
    }

    @Test("An invalid letter, or one used twice, is reported")
    func letters() {
        #expect(Self.taking(.flag("a", "X", short: "1")).contradictions == ["has the letter -1, which is not a letter"])
        #expect(Self.taking(.flag("a", "X", short: "é")).contradictions == ["has the letter -é, which is not a letter"])
        #expect(
            Self.taking(.flag("a", "X", short: "xy")).contradictions == ["has the letter -?, which is not a letter"])
        #expect(
            Self.taking(.flag("a", "X", short: "x"), .flag("b", "X", short: "x")).contradictions
                == ["uses the letter -x twice"])
        #expect(Self.taking(.flag("a", "X", short: "x"), .flag("b", "X", short: "X")).contradictions.isEmpty)
    }

    @Test("A parameter after one that takes all remaining words is reported")
    func repeated() {
        #expect(
            Self.taking(.argument("all", "X", as: [String].self), .argument("last", "X", as: String?.self))
                .contradictions
                == ["has last after all, which takes all words that are left"])
        #expect(
            Self.taking(.argument("all", "X", as: [String].self), .option("last", "X", as: String.self)).contradictions
                .isEmpty)
    }

    @Test("A required argument after an optional one is reported")
    func optional() {
        #expect(
            Self.taking(.argument("a", "X", as: String?.self), .argument("b", "X")).contradictions
                == ["needs b after a, which may be left out"])
        #expect(
            Self.taking(.argument("a", "X", default: "x"), .argument("b", "X")).contradictions
                == ["needs b after a, which may be left out"])
    }

    @Test("A secret as a positional argument is reported")
    func secret() {
        #expect(
            Self.taking(.argument("token", "X", as: Secret.self)).contradictions == ["takes the secret token as a word"]
        )
        #expect(Self.taking(.secret("token", "X") as Parameter<Secret>).contradictions.isEmpty)
    }

    @Test("A choice without options is reported")
    func choice() {
        #expect(
            Self.taking(.option("a", "X", as: NoChoice.self)).contradictions == ["offers no choice for a"])
    }

    @Test("A default that does not fit is reported")
    func defaultValue() {
        #expect(
            Self.taking(.option("a", "X", in: 1...3, default: 9)).contradictions
                == ["has a default for a that must be from 1 to 3, not 9"])
        #expect(Self.taking(.option("a", "X", in: 1...3, default: 3)).contradictions.isEmpty)
    }

    @Test("A flag together with its opposite is reported")
    func opposite() {
        #expect(
            Self.taking(.flag("cache", "X"), .flag("no-cache", "X")).contradictions == [
                "has both --cache and --no-cache"
            ])
    }

    @Test("All contradictions are reported at once")
    func everything() {
        let action = Action(
            "Demo", "Does it.", .reads, .argument("a b", "X"), .flag("help", "X", short: "h"),
            .option("n", "X", in: 1...3, default: 0)
        ) { _, _, _, _ in Nothing() }.alias("x y")
        #expect(action.contradictions.count == 7)
    }

    @Test("A valid action with many features has no contradictions")
    func rich() {
        #expect(ActionsFeature.rich.contradictions.isEmpty)
        #expect(ActionsFeature.values.contradictions.isEmpty)
    }
}
