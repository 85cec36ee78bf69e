import Capabilities
import CoreTesting
import HostKit
import JSON
import Registry
import Settings
import Testing

@testable import CommandLineFrontend

/// A feature whose settings are options of every command.
private struct FlaggedFeature: Feature {
    static let file = Setting<PathValue?>("authority", "A file with authorities", default: nil, flag: "authority")
    static let descriptor = Setting<Int?>("descriptor", "Where it is read from", default: nil, flag: "descriptor")
    static let careful = Setting("careful", "Whether it is careful", default: false, flag: "careful")
    static let shade = Setting("deep.shade", "How dark it is", default: SampleFeature.Shade.light, flag: "dark-mode")
    static let plain = Setting("plain", "No option of its own", default: 1)
    static let manifest = Manifest(
        id: "flagged.demo", summary: "Options from settings", version: "1.0",
        settings: [
            file.declaration, descriptor.declaration, careful.declaration, shade.declaration, plain.declaration,
        ])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(Action("flagged.demo.show", "Show it", .reads) { _ in Nothing() })
    }
}

@Suite("SettingOption")
struct SettingOptionTests {
    private static let features = [BuiltInFeature(FlaggedFeature.self)]

    private func take(_ words: [String]) -> (options: CommonOptions, words: [String], failure: ArgumentsFailure?) {
        CommonOptions.take(from: words, settings: SettingOption.all(Self.features))
    }

    private func host() throws -> TestHost {
        try TestHost([
            BuiltInFeature(essential: HostFeature.self), BuiltInFeature(essential: CommandLineFeature.self),
            BuiltInFeature(FlaggedFeature.self), BuiltInFeature(SampleFeature.self),
        ])
    }

    @Test(
        "Options for settings are accepted by every command, anywhere",
        arguments: [
            (["--authority", "a.pem", "x"], ["flagged.demo.authority=a.pem"], ["x"]),
            (["x", "--authority=a.pem"], ["flagged.demo.authority=a.pem"], ["x"]),
            (["x", "--authority=a=b.pem", "y"], ["flagged.demo.authority=a=b.pem"], ["x", "y"]),
            (["--descriptor", "3"], ["flagged.demo.descriptor=3"], []),
            (["--careful", "x"], ["flagged.demo.careful=true"], ["x"]),
            (["--dark-mode", "dark"], ["flagged.demo.deep.shade=dark"], []),
            (["--descriptor=3", "--descriptor=4"], ["flagged.demo.descriptor=3", "flagged.demo.descriptor=4"], []),
            (["--set", "a=1", "--careful", "--set=b=2"], ["a=1", "flagged.demo.careful=true", "b=2"], []),
            (["x", "--", "--careful", "--authority", "a"], [], ["x", "--", "--careful", "--authority", "a"]),
            (["--careful", "--", "--careful"], ["flagged.demo.careful=true"], ["--", "--careful"]),
        ])
    func taken(words: [String], settings: [String], rest: [String]) {
        let taken = take(words)
        #expect(taken.failure == nil)
        #expect(taken.options.workbench.settings == settings)
        #expect(taken.words == rest)
    }

    @Test(
        "Invalid values are reported with the name of the option",
        arguments: [
            (["--authority"], "--authority needs a value: A file with authorities"),
            (["--authority", "--careful"], "--authority needs a value: A file with authorities"),
            (["--descriptor", "three"], "--descriptor needs a whole number, not 'three'"),
            (["--descriptor="], "--descriptor needs a whole number, not ''"),
            (["--careful=no"], "--careful takes no value"),
            (["--dark-mode=blue"], "--dark-mode needs one of light, dark"),
        ])
    func wrong(words: [String], message: String) {
        let taken = take(words)
        #expect(taken.failure?.message.hasPrefix(message) == true, "\(taken.failure?.message ?? "")")
        #expect(taken.failure?.exit == .usage)
        #expect(!taken.options.workbench.settings.contains { $0.hasPrefix("flagged.demo.authority") })
    }

    @Test(
        "Words that only look like such options are left to the command",
        arguments: [
            "--author", "--authorityx", "--plain", "--no-careful", "-careful", "careful", "--Careful", "---careful",
        ])
    func unknown(word: String) {
        let taken = take([word])
        #expect(taken.words == [word])
        #expect(taken.options.workbench.settings.isEmpty && taken.failure == nil)
    }

    @Test("Options set the setting for the run, above all other sources")
    func effect() throws {
        let settings = take(["--authority=a.pem", "--careful", "--descriptor", "7"]).options.workbench.settings
        let catalogue = try host().host.catalogue
        let layers = try settings.map { try SettingsFlags.layer($0, catalogue: catalogue) }
        let file = try SettingsLayer(
            origin: .user(file: "user.json"), text: Array("{flagged: {demo: {descriptor: 1, careful: false}}}".utf8))
        let merged = Settings(merging: [file], overrides: layers, catalogue: catalogue) { _, _ in true }
        let view = merged.view(for: "flagged.demo")
        #expect(merged.problems.isEmpty)
        #expect(view[FlaggedFeature.file]?.text.hasSuffix("a.pem") == true)
        #expect(view[FlaggedFeature.descriptor] == 7 && view[FlaggedFeature.careful])
    }

    @Test("Options appear in the help, the manual, the Markdown reference and the completion")
    func documented() async throws {
        let test = try host()
        let pages = [
            try CommandLineFeature.helpText([], test.host, width: 80),
            try #require(try await test.perform("docs.markdown").string),
            try #require(try await test.perform("docs.man").string),
        ]
        for page in pages {
            // Roff escapes the hyphens of options with a backslash.
            let page = page.filter { $0 != "\\" }
            for words in [
                "--authority", "A file with authorities", "--careful", "Whether it is careful", "--dark-mode",
            ] {
                #expect(page.contains(words), "\(words)")
            }
            #expect(!page.contains("--plain"))
        }
        let registry = test.composition.registry
        let completer = Completer(tree: CommandTree(registry.actions), registry: registry, host: test.host)
        func next(_ words: [String]) -> [String] { completer.candidates(words).map(\.word) }
        #expect(next(["flagged", "demo", "show", "--auth"]) == ["--authority"])
        #expect(next(["--care"]) == ["--careful"])
        #expect(next(["flagged", "demo", "show", "--dark-mode", ""]) == ["light", "dark"])
        #expect(next(["flagged", "demo", "show", "--dark-mode=d"]) == ["--dark-mode=dark"])
        #expect(next(["flagged", "demo", "show", "--authority", ""]) == [":files"])
        #expect(next(["--authority", "a.pem", "flagged", ""]) == next(["flagged", ""]))
        #expect(next(["--careful", "flagged", ""]) == next(["flagged", ""]))
    }

    @Test("Options are the same before and after the features are composed")
    func same() throws {
        let before = SettingOption.all(Self.features)
        let after = SettingOption.all(try host().host)
        #expect(before.map(\.key) == after.map(\.key))
        #expect(before.map(\.declaration.name) == ["authority", "descriptor", "careful", "dark-mode"])
    }
}
