import Capabilities
import JSON

/// Runs a shell command and reports its result.
struct CommandRun {
    private static let linesShown = 40

    let command: String
    let seconds: Int

    func carryOut(at desk: inout Desk) throws(Stop) {
        let result = try desk.ask(.shell, ["command": .string(command), "timeout_ms": .int(seconds * 1000)])
        let shown = Markdown.code(command)
        switch result.exitCode {
        case 0?: desk.say("\(shown) succeeded.")
        case let code?: desk.say("\(shown) **failed** with exit code \(code).")
        case nil: desk.say(result.isError ? "\(shown) **failed**." : "\(shown) finished.")
        }
        let lines = result.content.split(separator: "\n", omittingEmptySubsequences: false)
        let problems = result.isError || result.exitCode ?? 0 != 0 ? Self.problems(in: lines) : []
        if !problems.isEmpty, lines.count > Self.linesShown {
            desk.say("Possible causes:")
            desk.say(Markdown.block(problems.joined(separator: "\n")))
        }
        guard !result.content.isEmpty else { return desk.say("It printed nothing.") }
        desk.say(lines.count > Self.linesShown ? "The last \(Self.linesShown) lines:" : "Its output:")
        desk.say(Markdown.block(lines.suffix(Self.linesShown).joined(separator: "\n")))
    }

    private static func problems(in lines: [Substring]) -> [Substring] {
        let found = lines.filter { line in
            let line = line.lowercased()
            return ["error", "fail", "fatal", "panic", "assert"].contains { line.firstRange(of: $0) != nil }
        }
        return Array(found.prefix(10))
    }
}

/// "run `make lint`"
struct RunCommand: Intention {
    private let run: CommandRun

    init?(_ clause: Clause) {
        guard Vocabulary.run.contains(clause.verb) else { return nil }
        if let quoted = clause.quoted.first {
            run = CommandRun(command: quoted, seconds: 120)
        } else if let word = clause.index(of: ["command"]), word + 1 < clause.tokens.count {
            run = CommandRun(command: clause.text((word + 1)..<clause.tokens.count), seconds: 120)
        } else {
            return nil
        }
    }

    var words: String { "run \(Markdown.code(run.command, limit: 80))" }

    func carryOut(at desk: inout Desk) throws(Stop) { try run.carryOut(at: &desk) }
}

/// "run the tests": finds the command for the tests and runs it.
struct RunTests: Intention {
    init() {}

    init?(_ clause: Clause) {
        let verbs = Vocabulary.run.union(Vocabulary.test).union(["do", "does", "check", "are", "make", "verify", "try"])
        guard verbs.contains(clause.verb), clause.contains(Vocabulary.test.union(["testsuite", "suite"])),
            clause.quoted.isEmpty
        else { return nil }
    }

    var words: String { "run the tests" }

    func carryOut(at desk: inout Desk) throws(Stop) {
        guard desk.offers(.shell) else { throw .lacks(.shell) }
        let tree = Listing.tree(try desk.content(.list, ["depth": 1]))
        let names = Set(tree.filter { $0.depth == 0 }.map(\.name))
        let found = ProjectFile.all.filter { names.contains($0.name) }
        for file in found {
            guard let command = try command(of: file, at: &desk) else { continue }
            desk.say("According to \(Markdown.code(file.name)), \(Markdown.code(command)) runs the tests.")
            return try CommandRun(command: command, seconds: 600).carryOut(at: &desk)
        }
        let looked = ProjectFile.all.map { Markdown.code($0.name) }.joined(separator: ", ")
        throw .impossible(
            """
            I do not know how to run this project's tests: none of \(looked) gives a command for them. \
            Tell me the command, such as ``run `./test.sh` ``.
            """)
    }

    private func command(of file: ProjectFile, at desk: inout Desk) throws(Stop) -> String? {
        if let command = file.test { return command }
        let result = try desk.ask(.read, ["path": .string(file.name), "limit": 1000])
        guard !result.isError else { return nil }
        let lines = FileLines(result.content).lines
        if file.name == "Makefile" {
            return ["test", "check"].first { target in lines.contains { $0.hasPrefix("\(target):") } }.map {
                "make \($0)"
            }
        }
        guard let package = try? JSON(parsing: lines.joined(separator: "\n")),
            let script = package["scripts"]?["test"]?.string, script.firstRange(of: "no test specified") == nil
        else { return nil }
        return "npm test"
    }
}

/// The files that show how a project is built, in order of precedence.
struct ProjectFile {
    let name: String
    let what: String
    /// The command for its tests; nil if it depends on the file's content.
    let test: String?

    static let all = [
        ProjectFile(name: "Makefile", what: "make", test: nil),
        ProjectFile(name: "Package.swift", what: "Swift package", test: "swift test"),
        ProjectFile(name: "package.json", what: "npm", test: nil),
        ProjectFile(name: "Cargo.toml", what: "Cargo", test: "cargo test"),
        ProjectFile(name: "go.mod", what: "Go module", test: "go test ./..."),
        ProjectFile(name: "pyproject.toml", what: "Python project", test: "python3 -m pytest"),
        ProjectFile(name: "setup.cfg", what: "Python project", test: "python3 -m pytest"),
        ProjectFile(name: "pytest.ini", what: "pytest", test: "python3 -m pytest"),
    ]
}
