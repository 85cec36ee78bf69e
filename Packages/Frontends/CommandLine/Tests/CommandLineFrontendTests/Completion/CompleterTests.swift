import Capabilities
import CoreTesting
import HostKit
import JSON
import Registry
import Settings
import Testing

@testable import CommandLineFrontend

@Suite("Completer")
struct CompleterTests {
    private func next(_ words: [String]) throws -> [String] {
        let test = try sampleHost()
        let registry = test.composition.registry
        return Completer(tree: CommandTree(registry.actions), registry: registry, host: test.host)
            .candidates(words).map(\.word)
    }

    @Test(
        "The candidates for the next word are found",
        arguments: [
            (
                [""],
                [
                    "access", "completion", "config", "data", "docs", "doctor", "features", "help", "sample", "version",
                    "post",
                ]
            ),
            (["do"], ["docs", "doctor"]),
            (["po"], ["post"]),
            (["config", "s"], ["set", "show"]),
            (["config", "se"], ["set"]),
            (["nothing", ""], []),
            (["sample", "parse", "--sh"], ["--shade"]),
            (["sample", "parse", "x", "--no"], ["--no-wrap", "--no-input"]),
            (["sample", "parse", "--shade", ""], ["light", "dark"]),
            (["sample", "parse", "--shade", "d"], ["dark"]),
            (["sample", "parse", "--shade=l"], ["--shade=light"]),
            (["sample", "parse", "--format=nd"], ["--format=ndjson"]),
            (["version", "--format", "nd"], ["ndjson"]),
            (["--format", "csv", "config", "un"], ["unset", "untrust"]),
            (["--quiet", "config", "un"], ["unset", "untrust"]),
            (["-q", "config", "un"], ["unset", "untrust"]),
            (["--set=a=b", "config", "un"], ["unset", "untrust"]),
            (["sample", "b"], ["bert"]),
            (["post", ""], ["anna", "bert", "martlet"]),
            (["post", "--file", ""], [":files"]),
            (["post", "-f", "x"], [":files"]),
            (["post", "--file=x"], [":files"]),
            (["post", "--file", "x", "a"], ["anna"]),
            (["post", "anna", ""], []),
            (["sample", "open", ""], [":folders", "again"]),
            (["sample", "secret", "--to"], ["--token-stdin", "--token-env", "--token-fd"]),
            (["config", "get", "sample.d"], ["sample.depth"]),
            (["config", "set", "features.sample", ""], ["true", "false"]),
            (["config", "set", "sample.depth", ""], []),
            (["--set", "sample.d"], ["sample.depth="]),
            (["--set", "features.sample=t"], ["features.sample=true"]),
            (["--set=features.sample=f"], ["--set=features.sample=false"]),
            (["--only", "s"], ["sample"]),
            (["completion", ""], ["bash", "zsh", "fish"]),
            (["help", "conf"], ["config"]),
            (["help", "config", "s"], ["set", "show"]),
            (["help", "config", "set", ""], []),
            (["help", "nothing", ""], []),
            (["help", "sett"], ["settings"]),
            (["help", "settings", "sample."], ["sample.depth", "sample.friend"]),
            (["config", "set", "sample.friend", ""], ["anna", "bert", "martlet"]),
            (["config", "set", "profiles.lab.sample.friend", "b"], ["bert"]),
            (["--set", "sample.friend=a"], ["sample.friend=anna"]),
            (["access", "show", "sample.se"], ["sample.send", "sample.secret"]),
            (["access", "show", "--as", "m"], ["model"]),
        ])
    func candidates(words: [String], expected: [String]) throws {
        #expect(try next(words) == expected)
    }

    @Test(
        "Candidates may depend on the arguments that are given before",
        arguments: [
            (["drawer", "open", "left", "--thing", ""], ["left-key"]), (["drawer", "open", "--thing", ""], []),
            (["drawer", "open", "left", "--thing="], ["--thing=left-key"]),
            (["drawer", "open", "--many", "2", "-q", "left", "--thing", "left-"], ["left-key"]),
            (["drawer", "open", "--many", "two", "left", "--thing", ""], ["left-key"]),
            (["drawer", "open", "left", ""], ["left-lock"]), (["drawer", "open", "--", "left", ""], ["left-lock"]),
        ])
    func given(words: [String], expected: [String]) throws {
        let host = try TestHost([
            BuiltInFeature(essential: HostFeature.self), BuiltInFeature(essential: CommandLineFeature.self),
            BuiltInFeature(DrawerFeature.self),
        ])
        let registry = host.composition.registry
        let completer = Completer(tree: CommandTree(registry.actions), registry: registry, host: host.host)
        #expect(completer.candidates(words).map(\.word) == expected)
    }

    @Test("Hidden commands are not offered") func hidden() throws {
        #expect(try next(["sample", "i"]).isEmpty)
        #expect(try next(["completion", "wo"]).isEmpty)
    }

    @Test("Only a person is offered what features find") func onlyForPersons() throws {
        let test = try sampleHost()
        let registry = test.composition.registry
        let completer = Completer(
            tree: CommandTree(registry.actions), registry: registry, host: test.host, isForPerson: false)
        #expect(completer.candidates(["post", ""]).isEmpty)
        #expect(completer.candidates(["config", "get", ""]).isEmpty)
        #expect(completer.candidates(["config", "un"]).map(\.word) == ["unset", "untrust"])
    }

    @Test("Candidates have meanings, which cannot control the terminal") func meanings() async throws {
        func lines(_ words: JSON...) async throws -> String? {
            try await sampleHost().perform("completion.words", ["words": .array(words)]).string
        }
        #expect(try await lines("post", "an") == "anna\tAnna of the\\u{1B}[31m north")
        #expect(try await lines("version", "--format", "te") == "text\tThe default")
        #expect(try await lines("version", "--format", "js") == "json")
        #expect(try await lines("config", "get", "sample.d") == "sample.depth\tHow deep it looks | at most")
        #expect(try await lines("--only", "sam") == "sample\tSomething to type at")
    }

    @Test("After -- no option is offered") func afterTheEnd() throws {
        #expect(try next(["post", "--", "--fi"]).isEmpty)
        #expect(try next(["post", "--", "an"]) == ["anna"])
    }

    @Test("Each candidate is printed on a line with its meaning") func printed() async throws {
        let text = try await sampleHost().perform("completion.words", ["words": ["config", "un"]])
        #expect(
            text.string
                == "unset\tRemove a value from your settings, to use the default again\n"
                + "untrust\tStop trusting a project's settings and bundles")
    }
}

/// What it offers depends on the drawer that is given.
private struct DrawerFeature: Feature {
    static let manifest = Manifest(id: "drawer", summary: "A drawer", version: "1.0")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action(
                "drawer.open", "Open it", .reads,
                .argument("drawer", "Which drawer", as: String.self),
                .argument("lock", "Which lock", as: String?.self, completion: Self.offering("lock")),
                .option("thing", "What to take", as: String?.self, completion: Self.offering("key")),
                .option("many", "How many", as: Int?.self)
            ) { _, drawer, _, _, _ in drawer })
    }

    private static func offering(_ thing: String) -> Completion {
        .dynamic { _, _, given in
            given["drawer"]?.string.map { [Completion.Candidate("\($0)-\(thing)")] } ?? []
        }
    }
}
