import FileKit
import JSON
import Testing
import WorkspaceSupport

extension PluginTests {
    @Test(
        "A new feature builds and passes its tests alone, without a warning",
        arguments: [
            ("Weather", "2 tests in 0 suites"), ("Station", "10 tests in 1 suite"), ("Beacon", "5 tests in 1 suite"),
        ])
    func newFeaturePassesItsTests(name: String, count: String) async throws {
        let output = try await clone.shell.run(
            "swift", "test", "--package-path", "Packages/Features/\(name)", "--scratch-path", ".build")
        #expect(output.contains("Test run with \(count) passed"))
    }

    @Test(
        "The code of the guides is what make feature writes",
        arguments: [("docs/FEATURES.md", 8), ("docs/SCREENS.md", 3)])
    func guideIsTrue(path: String, least: Int) throws {
        let guide = try clone.workspace.text(path)
        let written = try clone.workspace.files(in: "Packages/Features/Station", ending: ".swift").map { file in
            Self.bare(try clone.workspace.text(file))
        }
        let blocks = guide.matches(of: /```swift\n([^`]+)```/).map { String($0.output.1) }
        #expect(blocks.count >= least)
        for block in blocks {
            let code = Self.bare(
                block.replacing("Weather", with: "Station").replacing("weather", with: "station")
                    .replacing("WEATHER", with: "STATION"))
            #expect(written.contains { $0.contains(code) }, "\(block)")
        }
    }

    /// The lines without their indentation and empty lines.
    private static func bare(_ text: String) -> String {
        text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    @Test("what the plugin writes is clean and in order")
    func newFeatureIsClean() async throws {
        let lint = try await clone.shell.outcome([
            "swift", "format", "lint", "--strict", "--recursive", "--configuration", ".swift-format",
            "Package.swift", "Apps/martlet", "Packages/Features/Weather", "Packages/Features/Station",
            "Packages/Features/Beacon",
        ])
        #expect(lint.code == 0, "\(lint.errors)")
        #expect(try clone.workspace.features() == Subset.everything().features)
    }

    @Test("the example of a new feature's README is what the program says")
    func exampleIsTrue() async throws {
        let page = try clone.workspace.text("Packages/Features/Weather/README.md")
        let example = try #require(page.firstMatch(of: /\$ martlet ([^\n]+)\n([^`]+)```/))
        let words = example.output.1.split(separator: " ").map(String.init)
        let outcome = try await clone.program(["Weather"]).outcome(words)
        #expect(outcome.output == example.output.2)
    }

    @Test(
        "a new feature is on every surface with nothing else changed",
        arguments: [
            (["help"], "weather"), (["help", "weather"], "greet"),
            (["help", "weather", "greet"], "The person to greet"),
            (["completion", "words", "wea"], "weather"), (["docs"], "weather greet"),
            (["docs", "man"], "weather greet"),
            (["docs", "schema"], "weather.greet"), (["docs"], "weather.greeting"),
        ])
    func newFeatureIsEverywhere(_ words: [String], _ text: String) async throws {
        let with = try await clone.program(["Weather"]).outcome(words)
        #expect(with.code == 0 && with.output.contains(text), "\(with)")
        let without = try await clone.program([]).outcome(words)
        #expect(!without.output.contains(text))
    }

    @Test(
        "a bad name is refused with the reason, and nothing changes",
        arguments: Subset.some(of: [
            ([String](), "one name"), ([""], "needs a name"), (["weather"], "upper-case letter"),
            (["Web-Search"], "letters and digits"),
            (["Wétter"], "letters and digits"), (["9Lives"], "upper-case letter"),
            (["Self"], "Swift keyword"),
            (["Weather"], "Weather already"), (["WEATHER"], "Weather already"), (["Core"], "Core already"),
            (["JSON"], "JSON already"), (["Registry"], "Registry already"), (["HostKit"], "HostKit already"),
            (["Foundation"], "Foundation already"), (["Testing"], "Testing already"), (["Config"], "'martlet config'"),
            (["Ab", "Cd"], "one name"), (["--help"], "letters and digits"),
            (["Thing", "--with", "http,rain"], "'rain'; WITH takes background, http, screen, secret, storage"),
            (["Thing", "--with"], "WITH takes"),
        ]))
    func refusesName(_ words: [String], _ reason: String) async throws {
        let files = ["Package.swift", "Apps/martlet/BuiltInFeatures.swift"]
        let before = try files.map { try clone.workspace.text($0) }
        let outcome = try await clone.plugin("new-feature", words)
        #expect(outcome.code != 0)
        #expect(outcome.errors.contains(reason))
        #expect(try files.map { try clone.workspace.text($0) } == before)
        let packages = try Files.list("\(clone.workspace.root)/Packages/Features").map(\.name)
        #expect(Set(packages).isSuperset(of: ["Courier", "Packer", "Station", "Weather"]))
        #expect(packages.allSatisfy { name in before[0].contains("\"\(name)\"") })
    }

    @Test("the plugin keeps free the words that every build has")
    func commandsAreReserved() async throws {
        let list = try JSON(parsing: try await clone.program([]).output("docs", "schema")).array ?? []
        let words = Set(list.compactMap { $0["id"]?.string?.split(separator: ".").first.map(String.init) })
        #expect(words.contains("version"))
        let source = try clone.workspace.text("Plugins/new-feature/FeatureName.swift")
        for word in words { #expect(source.contains("\"\(word)\""), "\(word) is a command that a feature could take") }
    }
}
