import CoreTesting
import JSON
import Registry
import Testing

@testable import CommandLineFrontend

@Suite("Completer")
struct CompleterTests {
    private func next(_ words: [String]) throws -> [String] {
        let host = try sampleHost()
        let registry = host.composition.registry
        return Completer(tree: CommandTree(registry.actions), registry: registry, host: host.host)
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
        ])
    func candidates(words: [String], expected: [String]) throws {
        #expect(try next(words) == expected)
    }

    @Test("Hidden commands are not offered") func hidden() throws {
        #expect(try next(["sample", "i"]).isEmpty)
        #expect(try next(["completion", "wo"]).isEmpty)
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
