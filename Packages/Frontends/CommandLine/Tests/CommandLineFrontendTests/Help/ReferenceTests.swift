import Capabilities
import CoreTesting
import HostKit
import JSON
import Registry
import Settings
import Testing

@testable import CommandLineFrontend

@Suite("Reference documents")
struct ReferenceTests {
    @Test("The Markdown reference has every action, parameter and setting") func markdown() async throws {
        let test = try sampleHost()
        let text = try #require(try await test.perform("docs.markdown").string)
        for action in test.composition.registry.actions.all where !action.isHidden {
            #expect(text.contains("### \(action.id.split(separator: ".").joined(separator: " "))\n"))
            for parameter in action.parameters { #expect(text.contains(parameter.name)) }
        }
        for option in CommonOptions.declarations { #expect(text.contains("--\(option.name)")) }
        for setting in test.host.catalogue.declarations {
            #expect(text.contains("| `\(setting.name)` |"))
        }
        #expect(text.contains("How deep it looks \\| at most"))
        #expect(!text.contains("internal"))
    }

    @Test("The manual page is accepted by groff without a warning", .enabled(if: isInstalled("command -v groff")))
    func man() async throws {
        let test = try sampleHost()
        let page = try #require(try await test.perform("docs.man").string)
        let (text, status) = try output(of: "groff -k -man -Tutf8 -ww -P-cbou", given: page)
        #expect(status == 0)
        #expect(
            !text.contains("<standard input>:"),
            "\(text.split(separator: "\n").filter { $0.contains("<standard input>:") })")
        for action in test.composition.registry.actions.all where !action.isHidden {
            #expect(text.contains(Usage.line(action, program: "martlet").prefix(40)), "\(action.id)")
        }
        #expect(text.contains("--no-input") && text.contains("143"))
    }

    @Test(
        "The schemas are valid JSON Schema 2020-12",
        .enabled(if: isInstalled("/usr/bin/python3 -c 'import jsonschema'")))
    func schema() async throws {
        let documents = try await sampleHost().perform("docs.schema")
        let check = """
            import json, sys; from jsonschema import Draft202012Validator as V
            for a in json.load(sys.stdin): [V.check_schema(s) for s in [a['input'], a['result']] + a.get('events', [])]
            """
        let (text, status) = try output(of: "/usr/bin/python3 -c \"\(check)\"", given: documents.text())
        #expect(status == 0, "\(text)")
        let parse = try #require(documents.array?.first { $0["id"]?.string == "sample.parse" })
        #expect(parse["input"]?["properties"]?["count"]?["maximum"]?.int == 9)
        #expect(parse["input"]?["properties"]?["count"]?["default"]?.int == 1)
        #expect(parse["input"]?["required"] == ["first"])
        #expect(documents.array?.contains { $0["id"]?.string == "sample.internal" } == false)
    }

    @Test("The schemas and the reference list the events that an action declares, with their members")
    func events() async throws {
        let host = try TestHost([
            BuiltInFeature(essential: HostFeature.self), BuiltInFeature(essential: CommandLineFeature.self),
            BuiltInFeature(TickFeature.self),
        ])
        let documents = try #require(try await host.perform("docs.schema").array)
        let tick = try #require(documents.first { $0["id"] == "clock.tick" })
        let events = try #require(tick["events"]?.array)
        #expect(events.map { $0["properties"]?["type"]?["const"]?.string } == ["tick", "stopped"])
        #expect(events.first == JSON.object(TickFeature.tick.declaration.jsonSchema))
        let version = try #require(documents.first { $0["id"] == "version" })
        #expect(version["events"] == nil)
        let text = try #require(try await host.perform("docs.markdown").string)
        #expect(
            text.contains(
                """
                Events:

                | Event | Member | Meaning |
                |---|---|---|
                | `tick` | | A second \\| has passed |
                | | `count` | How many have passed |
                | `stopped` | | The clock stops |

                """))
        #expect(text.ranges(of: "Events:").count == 1)
    }

    @Test("All examples can be parsed") func examples() throws {
        let actions = try sampleHost().composition.registry.actions
        let tree = CommandTree(actions)
        var count = 0
        for action in actions.all {
            for example in action.examples {
                let start = try #require(example.command.ranges(of: "martlet ").first)
                let end = example.command.firstIndex { ")>|".contains($0) && $0 > " " } ?? example.command.endIndex
                let words = example.command[start.upperBound..<end].split(separator: " ").map(String.init)
                let taken = CommonOptions.take(from: words)
                #expect(taken.failure == nil)
                guard case .action(let found, let rest) = try tree.match(taken.words) else {
                    Issue.record("\(example.command) is no command")
                    continue
                }
                #expect(found.id == action.id)
                #expect(throws: Never.self, "\(example.command)") { _ = try ArgumentParser.parse(rest, for: found) }
                count += 1
            }
        }
        #expect(count >= 10)
    }

    @Test("All exit codes are documented") func exitCodes() {
        #expect(ManPage.exitCodes.map(\.0) == [0, 1, 2, 3, 4, 5, 6, 130, 143])
    }
}

/// An action that declares its events.
private struct TickFeature: Feature {
    static let manifest = Manifest(id: "clock", summary: "A clock", version: "1.0")
    static let tick = EventKind<Int>(
        "tick", "A second | has passed", [Field("count", "How many have passed") { $0 }])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("clock.tick", "Count seconds", .reads) { _ in Nothing() }
                .streaming([Self.tick.declaration, EventDeclaration("stopped", "The clock stops")]))
    }
}
