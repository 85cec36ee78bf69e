import Capabilities
import CoreTesting
import FileKit
import JSON
import Testing

@testable import MCPServers

/// A project with a file of servers, and the record of what the person agreed to.
private struct Project {
    let parent: String
    let rules: FolderRecordFile

    var path: String { parent + "/project" }

    static func run(_ body: (Project) async throws -> Void) async throws {
        try await TemporaryDirectory.run { folder in
            let project = Project(parent: folder, rules: FolderRecordFile(folder + "/folders.json"))
            try Files.makeDirectories(project.path)
            try await body(project)
        }
    }

    func agreement(_ json: JSON, name: String = "tools") throws -> ServerAgreement {
        try ServerAgreement(
            ConfiguredServer(
                name: name, entry: try ServerEntry(json: json), origin: .project(file: ".mcp.json"), folder: path))
    }

    func write(_ text: String, _ name: String) throws {
        try Files.writeAtomically(Array(text.utf8), to: "\(path)/\(name)", mode: 0o700)
    }
}

/// What the person must agree to before a server of a project is used.
struct AgreementTests {
    @Test("it shows the command, the names of variables and the files of the project, and not their values")
    func shows() async throws {
        try await Project.run { project in
            try project.write("#!/bin/sh", "run.sh")
            let agreement = try project.agreement([
                "command": "./run.sh", "args": ["--to", "${CITY}"], "env": ["A_TOKEN": "literal-value"],
                "install": ["pip", "install", "${WHAT}"],
            ])
            let text = agreement.lines.joined(separator: "\n")
            #expect(text.contains("./run.sh --to '${CITY}'") && text.contains("A_TOKEN"))
            #expect(text.contains("CITY} in args.1") && text.contains("/project/run.sh ("))
            #expect(!text.contains("literal-value"))
            #expect(text.contains("installs by pip install '${WHAT}'") && text.contains("WHAT} in install.2"))
        }
    }

    @Test("a long command is shown to its end, what installs it too")
    func showsAll() async throws {
        try await Project.run { project in
            let long = String(repeating: "a ", count: 2_000)
            let agreement = try project.agreement([
                "command": "x", "args": [.string(long), "--last-argument"],
                "install": ["y", .string(long), "--last-word"],
            ])
            let text = agreement.lines.joined(separator: "\n")
            #expect(text.contains("--last-argument") && text.contains("--last-word"))
        }
    }

    @Test("a yes counts for exactly what was shown, and for the content of the files that would run")
    func counts() async throws {
        try await Project.run { project in
            let (rules, entry): (_, JSON) = (project.rules, ["command": "./run.sh"])
            try project.write("one", "run.sh")
            let first = try project.agreement(entry)
            #expect(try !first.isGiven(in: rules))
            try await first.ask(HeadlessInteraction(answers: ["mcp.agree.tools": true]), keeping: rules) { _ in }
            #expect(try project.agreement(entry).isGiven(in: rules))
            let others: [JSON] = [
                ["command": "./run.sh", "args": ["x"]], ["command": "./run.sh", "env": ["A": "b"]],
                ["command": "sh", "args": ["./run.sh"]], ["command": "./run.sh", "install": ["pip"]],
            ]
            for other in others { #expect(try !project.agreement(other).isGiven(in: rules), "\(other)") }
            #expect(try !project.agreement(entry, name: "other").isGiven(in: rules))
            try project.write("two", "run.sh")
            #expect(try !project.agreement(entry).isGiven(in: rules))
        }
    }

    @Test("a file that an option names counts too, and one outside of the project does not")
    func files() async throws {
        try await Project.run { project in
            let entry: JSON = ["command": "x", "args": ["--config=settings.json", "/etc/hostname"]]
            try project.write("a", "settings.json")
            let before = try project.agreement(entry)
            #expect(before.files.map { $0.path.hasSuffix("/project/settings.json") } == [true])
            try project.write("b", "settings.json")
            #expect(try before.digest != project.agreement(entry).digest)
        }
    }

    @Test(
        "a file counts however its folder is written",
        arguments: [
            ["command": "python3", "args": ["${workspaceFolder}/tools/serve.py"]],
            ["command": "python3", "args": ["--app=${workspaceFolder}/tools/serve.py"]],
            ["command": "python3", "args": ["serve.py"], "cwd": "tools"],
            ["command": "./serve.py", "cwd": "${workspaceFolder}/tools"],
            ["command": "python3", "args": ["tools${/}serve.py"]],
        ] as [JSON])
    func spellings(entry: JSON) async throws {
        try await Project.run { project in
            try Files.makeDirectories("\(project.path)/tools")
            try project.write("a", "tools/serve.py")
            let before = try project.agreement(entry)
            #expect(before.files.map { $0.path.hasSuffix("/project/tools/serve.py") } == [true])
            try project.write("b", "tools/serve.py")
            #expect(try before.digest != project.agreement(entry).digest)
        }
    }

    @Test("a no, and nobody to ask, leave the server unused, and nothing is kept")
    func refuses() async throws {
        try await Project.run { project in
            let agreement = try project.agreement(["command": "x"])
            for interaction in [HeadlessInteraction(), HeadlessInteraction(answers: ["mcp.agree.tools": false])] {
                let error = await #expect(throws: ServerError.self) {
                    try await agreement.ask(interaction, keeping: project.rules) { _ in }
                }
                #expect(error?.kind == .notAgreed && error?.exit == .unanswered)
            }
            #expect(try !agreement.isGiven(in: project.rules))
        }
    }

    @Test("each variable that looks like a secret needs a yes of its own")
    func secrets() async throws {
        try await Project.run { project in
            let rules = project.rules
            let agreement = try project.agreement([
                "url": "https://a.example/${CITY}", "headers": ["Authorization": "${GH_TOKEN}"],
            ])
            #expect(agreement.secrets.map(\.name) == ["GH_TOKEN"])
            await #expect(throws: ServerError.self) {
                try await agreement.ask(HeadlessInteraction(answers: ["mcp.agree.tools": true]), keeping: rules) { _ in
                }
            }
            #expect(try !agreement.isGiven(in: rules))
            let answers: [String: JSON] = ["mcp.agree.tools": true, "mcp.agree.tools.GH_TOKEN": true]
            try await agreement.ask(HeadlessInteraction(answers: answers), keeping: rules) { _ in }
            #expect(try agreement.isGiven(in: rules))
        }
    }

    @Test("a folder that replaces another gets none of its agreements")
    func replaced() async throws {
        try await Project.run { project in
            let agreement = try project.agreement(["command": "x"])
            let yes = HeadlessInteraction(answers: ["mcp.agree.tools": true])
            try await agreement.ask(yes, keeping: project.rules) { _ in }
            try Files.makeDirectories(project.parent + "/other")
            try Files.rename(project.path, toNew: project.parent + "/gone")
            try Files.rename(project.parent + "/other", toNew: project.path)
            #expect(try !agreement.isGiven(in: project.rules))
        }
    }
}

/// Which servers a folder has.
struct DirectoryTests {
    private static func entries(_ names: String...) -> ServerEntries {
        Dictionary(uniqueKeysWithValues: names.map { ($0, ServerEntry(.program("run-\($0)", []))) })
    }

    @Test("the person's servers come before those of the project with their names, which is told")
    func order() async throws {
        try await TemporaryDirectory.run { folder in
            try Files.writeAtomically(
                Array(#"{"mcpServers": {"git": {"command": "evil"}, "web": {"command": "w"}}}"#.utf8),
                to: folder + "/.mcp.json")
            let layers: [(ConfiguredServer.Origin, ServerEntries)] = [
                (.own("settings"), Self.entries("git", "time")), (.project(file: "p"), Self.entries("own")),
            ]
            let found = ServerDirectory(layers.map { (origin: $0, entries: $1) }, folder: folder, readsProject: true)
            #expect(found.servers.map(\.name) == ["git", "own", "time", "web"])
            #expect(try found.server(named: "git").entry.way == .program("run-git", []))
            #expect(found.servers.map(\.isOwn) == [true, false, true, false])
            #expect(found.problems.contains { $0.contains("git") && $0.contains("left out") })
            let without = ServerDirectory(layers.map { (origin: $0, entries: $1) }, folder: folder, readsProject: false)
            #expect(without.servers.map(\.name) == ["git", "own", "time"])
            let error = #expect(throws: ServerError.self) { try found.server(named: "gti") }
            #expect(error?.message.contains("git") == true)
        }
    }

    @Test("a file of the project that cannot be read is told, and the others count")
    func broken() async throws {
        try await TemporaryDirectory.run { folder in
            try Files.writeAtomically(Array("{".utf8), to: folder + "/.mcp.json")
            let found = ServerDirectory(
                [(origin: .own("settings"), entries: Self.entries("a"))], folder: folder, readsProject: true)
            #expect(found.servers.map(\.name) == ["a"] && found.problems.count == 1)
        }
    }
}
