import FileKit
import Testing
import WorkspaceSupport

extension PluginTests {
    @Test("a host of a chosen feature and one of one's own is written and built outside the tree")
    func composesHost() async throws {
        let place = "\(clone.folder)/bench"
        let outcome = try await clone.plugin(
            "compose",
            [
                place, "--name", "mybench", "--features", "Weather", "--own", "Greeting", "--debug",
                "--objects", "\(clone.workspace.root)/.build",
            ])
        try #require(outcome.code == 0, "\(outcome.output.suffix(4000))\(outcome.errors)")
        let program = try #require(outcome.output.firstMatch(of: /The program is (\S+)\./)).output.1
        let host = BuiltProgram(
            path: String(program), home: "\(clone.folder)/home", linkage: try await Linkage(of: String(program)))
        #expect(
            try await Set(host.features().keys) == [
                "commands", "greeting", "host", "log", "screen", "terminal", "weather",
            ])
        #expect(try await host.output("greeting", "greet", "Ada") == "Hello Ada!\n")
        #expect(try await host.output("weather", "greet", "Ada").contains("Hello Ada!"))
        #expect(!host.linkage.contains("lzma"))
        let main = try Workspace(root: place).text("Sources/mybench/main.swift")
        #expect(main.split(separator: "\n").count <= 12)
        let lint = try await clone.shell.outcome([
            "swift", "format", "lint", "--strict", "--recursive", "--configuration", ".swift-format",
            "\(place)/Package.swift", "\(place)/Sources",
        ])
        #expect(lint.code == 0, "\(lint.errors)")
    }

    @Test(
        "a host that cannot be is refused with the reason, and nothing is written",
        arguments: Subset.some(of: [
            ("new", ["--name", "mybench", "--features", "Wether"], "there is no feature 'Wether'; known here: "),
            ("new", ["--name", "mybench"], "choose at least one"),
            ("new", ["--features", "Weather"], "usage:"),
            ("new", ["--name", "my bench", "--features", "Weather"], "cannot name a program"),
            ("new", ["--name", "weather", "--features", "Weather"], "another --name"),
            ("new", ["--name", "mybench", "--own", "greeting"], "upper-case letter"),
            ("new", ["--name", "mybench", "--own", "Packer"], "another --own"),
            ("new", ["--name", "mybench", "--features", "Weather", "--fast"], "unknown option"),
            ("weather", ["--name", "mybench", "--features", "Weather"], "name of the package Weather"),
            ("martlet/Apps/mine", ["--name", "mybench", "--features", "Weather"], "inside this checkout"),
            ("martlet", ["--name", "mybench", "--features", "Weather"], "inside this checkout"),
            ("full", ["--name", "mybench", "--features", "Weather"], "not empty"),
        ]))
    func refusesHost(_ place: String, _ words: [String], _ reason: String) async throws {
        try Files.makeDirectories("\(clone.folder)/full/something")
        let before = try Files.list(clone.folder)
        let outcome = try await clone.plugin("compose", ["\(clone.folder)/\(place)"] + words)
        #expect(outcome.code != 0)
        #expect(outcome.errors.contains(reason))
        #expect(try Files.list(clone.folder) == before)
        #expect(try Files.list("\(clone.folder)/full").map(\.name) == ["something"])
        #expect(!Files.exists("\(clone.workspace.root)/Apps/mine"))
    }
}
