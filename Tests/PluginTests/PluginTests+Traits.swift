import JSON
import Testing
import WorkspaceSupport

extension PluginTests {
    @Test(
        "a build has the features of its traits, works, and links the C libraries of these alone",
        arguments: try Subset.matrix())
    func buildsSubset(_ subset: Subset) async throws {
        let program = try await clone.program(subset.features)
        let version = try JSON(parsing: try await program.output("version", "--json"))
        let names = version["features"]?.array?.compactMap(\.string) ?? []
        #expect(
            Set(names)
                == Set(subset.features.map { $0.lowercased() } + ["commands", "host", "log", "screen", "terminal"]))

        // Only Chat prints Markdown.
        let hasMarkdown = version["libraries"]?["libcmark-gfm"] != nil
        #expect(hasMarkdown == subset.features.contains("Chat"))
        #expect(!program.linkage.needed.contains { $0.contains("cmark") })

        let states = try await program.features()
        for name in try Subset.everything().features {
            let (state, reason) = try #require(states[name.lowercased()])
            if !subset.features.contains(name) {
                #expect(state == "off")
                let traits = try Subset.everything().features.filter { subset.features.contains($0) || $0 == name }
                #expect(reason == "not in this build; build with 'make build TRAITS=\(traits.joined(separator: ","))'")
            } else if state != "ok" {
                // A feature alone may miss another one, and then has to say which.
                #expect(reason.contains("build with 'make build TRAITS="), "\(name) is \(state): \(reason)")
            }
        }
        let isWhole = !states.values.contains { $0.state == "failed" }
        #expect(try await program.outcome(["doctor"]).code == (isWhole ? 0 : 1))

        let own = try clone.workspace.libraries(of: subset.features.map { "Packages/Features/\($0)" })
        let host = try clone.workspace.libraries(of: ["Packages/Frontends/CommandLine"])
        #expect(program.linkage.foreign(besides: own.union(host)) == [])
        for library in own { #expect(program.linkage.contains(library), "\(library) is not linked") }
    }

    @Test("a feature with a C library uses it, and the version names it")
    func usesLibrary() async throws {
        let program = try await clone.program(["Packer"])
        #expect(try await program.output("packer", "crc", "123456789") == "cbf43926\n")
        #expect(try JSON(parsing: try await program.output("version", "--json"))["libraries"]?["liblzma"] != nil)
        #expect(program.linkage.contains("lzma"))
    }

    @Test("a need that a left-out feature would meet is reported with its trait")
    func reportsUnmetNeed() async throws {
        let outcome = try await clone.program(["Courier"]).outcome(["courier", "ready"])
        #expect(outcome.code == 2)
        #expect(outcome.errors.contains("Packer provides it and is not in this build: build with 'make build TRAITS="))
        #expect(try await clone.program(["Courier", "Packer"]).output("courier", "ready") == "ready\n")
    }

    @Test("an unknown trait is refused with the known ones")
    func refusesUnknownTrait() async throws {
        let outcome = try await clone.shell.outcome(["swift", "build", "--product", "martlet", "--traits", "Wether"])
        #expect(outcome.code != 0)
        #expect((outcome.output + outcome.errors).contains("Weather"))
    }
}
