import Capabilities
import JSON

/// "run the tests": finds out how, and does it.
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
            desk.say("\(Markdown.code(file.name)) says that the tests are run by \(Markdown.code(command)).")
            return try CommandRun(command: command, seconds: 600).carryOut(at: &desk)
        }
        let looked = ProjectFile.all.map { Markdown.code($0.name) }.joined(separator: ", ")
        throw .impossible(
            """
            I do not see how the tests of this project are run: I looked for \(looked). \
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
