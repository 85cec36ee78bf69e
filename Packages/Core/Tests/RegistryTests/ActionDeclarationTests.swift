import Capabilities
import JSON
import Registry
import Testing

@Suite("Action declaration")
struct ActionDeclarationTests {
    @Test("An action has an exact JSON Schema of its arguments")
    func inputSchema() {
        let properties = [
            #""city":{"type":"string","description":"City to look up"}"#,
            #""hosts":{"type":"array","items":{"type":"string"},"description":"Hosts to ask"}"#,
            #""units":{"type":"string","enum":["metric","imperial"],"description":"Units of measure","default":"metric"}"#,
            #""limit":{"type":"integer","description":"At most so many"}"#,
            #""rounds":{"type":"integer","minimum":1,"maximum":9,"description":"How often","default":3}"#,
            #""share":{"type":"number","minimum":0.0,"maximum":1.0,"description":"Part of all","default":0.5}"#,
            #""tags":{"type":"array","items":{"type":"string"},"description":"Words for it"}"#,
            #""labels":{"type":"object","additionalProperties":{"type":"integer"},"description":"Labels by name"}"#,
            #""all":{"type":"boolean","description":"Also the hidden ones","default":false}"#,
            #""check":{"type":"boolean","description":"Look twice","default":true}"#,
            #""token":{"type":"string","writeOnly":true,"description":"Access token"}"#,
        ]
        #expect(
            ActionsFeature.rich.inputSchema.description
                == #"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"#
                + properties.joined(separator: ",") + #"},"additionalProperties":false,"required":["city"]}"#)
    }

    @Test("An action without parameters has a schema without properties")
    func emptySchema() {
        let action = Action("demo.empty", "Takes nothing", .reads) { _ in Nothing() }
        #expect(
            action.inputSchema.description
                == #"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","#
                + #""properties":{},"additionalProperties":false}"#)
    }

    @Test("An action that names a parameter twice still has a schema")
    func twice() {
        let action = Action("demo.twice", "Takes it twice", .reads, .argument("a", "First"), .argument("a", "Second")) {
            _, _, _ in Nothing()
        }
        #expect(action.inputSchema["properties"]?.object?.keys == ["a"])
    }

    @Test("A parameter has its form, its default and whether it is required")
    func parameters() {
        let parameters = ActionsFeature.rich.parameters
        #expect(
            parameters.map(\.form) == [
                .positional, .positional, .option, .option, .option, .option, .option, .option, .flag, .flag, .secret,
            ])
        #expect(parameters.map(\.isRequired) == [true] + Array(repeating: false, count: 10))
        #expect(
            parameters.map(\.isRepeated)
                == [false, true, false, false, false, false, true, false, false, false, false])
        #expect(parameters.compactMap(\.defaultValue) == ["metric", 3, 0.5, false, true])
        #expect(parameters.compactMap(\.short) == ["u", "a"])
        #expect(
            ActionsFeature.values.parameters.filter(\.isRequired).map(\.name) == [
                "path", "wait", "size", "since", "ratio", "key",
            ])
    }

    @Test("An action has the shape of its result")
    func result() {
        #expect(Action("demo.a", "A", .reads) { _ in ["x"] }.result == .array(.string))
        #expect(Action("demo.a", "A", .reads) { _ in Progress("x") }.result == Progress.schema)
    }

    @Test("Modifiers of an action take effect, and without them it has the defaults")
    func extras() {
        let plain = Action("demo.a", "A", .writes) { _ in Nothing() }
        #expect(plain.alias == nil)
        #expect(
            ![plain.isDefault, plain.isStreaming, plain.worksAlways, plain.isInstant, plain.isHidden].contains(true))
        let full = plain.details("More").example("martlet demo a", "Does it").example("martlet demo a | sort", "Sorts")
            .alias("a").asDefault().streaming([]).always().instant().hidden()
        #expect(full.details == "More")
        #expect(full.examples.map(\.command) == ["martlet demo a", "martlet demo a | sort"])
        #expect(full.alias == "a")
        #expect(![full.isDefault, full.isStreaming, full.worksAlways, full.isInstant, full.isHidden].contains(false))
        #expect(full.group == "demo")
        #expect(plain.examples.isEmpty)
    }

    @Test("Completion follows the type by default")
    func completion() throws {
        func kind(_ schema: Schema) -> String {
            switch ParameterDeclaration(.init("x", "X", schema), form: .option).completion {
            case .nothing: "nothing"
            case .words(let words): words.joined(separator: ",")
            case .files: "files"
            case .directories: "directories"
            case .dynamic, .dynamicOrFiles: "dynamic"
            }
        }
        #expect(kind(.choice(["a", "b"])) == "a,b")
        #expect(kind(.optional(.boolean)) == "true,false")
        #expect(kind(.path(.own)) == "files")
        #expect(kind(.path(.any)) == "files")
        #expect(kind(.array(.optional(.path(.read)))) == "files")
        #expect(kind(.string) == "nothing")
    }
}
