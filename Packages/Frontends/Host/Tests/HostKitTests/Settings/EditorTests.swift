import Capabilities
import CoreTesting
import FileKit
import Glibc
import HostTesting
import JSON
import Synchronization
import Testing

private let editAgain = "Edit again"
private let leaveIt = "Leave the file as it was and keep the draft"

/// A person who chooses these options when the settings are not valid.
private func person(choosing choices: String...) -> ScriptedPerson {
    ScriptedPerson(["config.edit.invalid": choices.map { .string($0) }])
}

@Suite("Settings editor", .timeLimit(.minutes(5)))
struct EditorTests {
    /// An editor that runs a line of shell on the given file.
    private func editor(_ bench: TestWorkbench, _ script: String) throws -> String {
        let path = bench.home + "/editor"
        try bench.write("#!/bin/sh\nfile=\"$1\"\n\(script)\n", to: path)
        let status = unsafe chmod(path, 0o755)
        try #require(status == 0)
        return path
    }

    @Test("A valid edit changes the file") func valid() async throws {
        try await withBench(SampleFeature.self) { bench in
            bench.environment["EDITOR"] = try editor(bench, "echo '{sample: {depth: 7}} // mine' >\"$file\"")
            bench.person = person()
            try await bench.perform("config.edit")
            #expect(try bench.read(bench.userFile) == "{sample: {depth: 7}} // mine\n")
            // The draft was removed, and only the lock remains.
            #expect(
                try Files.list(bench.home + "/.config/martlet").map(\.name) == ["config.json", "config.json.lock"])
        }
    }

    @Test("A frontend that holds the terminal lends it to the editor", arguments: [Int32(0), 3])
    func lent(status: Int32) async throws {
        try await withBench(SampleFeature.self) { bench in
            bench.environment["EDITOR"] = "/nowhere/editor --wait"
            let lender = Lender(status: status)
            bench.person = lender
            let problem = await failure { try await bench.perform("config.edit") }
            #expect((problem == nil) == (status == 0), "\(problem?.message ?? "")")
            let command = try #require(lender.command.withLock { $0 })
            #expect(command.prefix(2) == ["/nowhere/editor", "--wait"] && command.count == 3)
            #expect(Files.exists(bench.userFile) == (status == 0))
        }
    }

    @Test("A file that another command changed meanwhile is not replaced, and the draft stays")
    func overtaken() async throws {
        try await withBench(SampleFeature.self) { bench in
            try bench.write("{}", to: bench.userFile)
            bench.environment.merge([
                "EDITOR": try editor(
                    bench, "echo '{sample: {depth: 7}}' >\"$file\"; echo '{sample: {depth: 8}}' >\(bench.userFile)")
            ]) { $1 }
            bench.person = person()
            let problem = await failure { try await bench.perform("config.edit") }
            #expect(problem?.message.contains("was changed by another command meanwhile") == true)
            #expect(try bench.read(bench.userFile) == "{sample: {depth: 8}}\n")
            let draft = try #require(
                try Files.list(bench.home + "/.config/martlet").map(\.name).first { $0.hasPrefix(".config-draft-") })
            #expect(try bench.read("\(bench.home)/.config/martlet/\(draft)") == "{sample: {depth: 7}}\n")
        }
    }

    @Test("After an invalid edit, the editor opens again if the person wants to continue") func again() async throws {
        try await withBench(SampleFeature.self) { bench in
            bench.environment.merge([
                "EDITOR": try editor(
                    bench,
                    "if grep -q dpeth \"$file\"; then echo '{}' >\"$file\"; else echo '{sample: {dpeth: 1}}' >\"$file\"; fi"
                )
            ]) { $1 }
            let chooser = person(choosing: editAgain)
            bench.person = chooser
            try await bench.perform("config.edit")
            #expect(chooser.left == 0)
            #expect(bench.output.notices.first?.contains(":1:11: sample.dpeth") == true)
            #expect(try bench.read(bench.userFile) == "{}\n")
        }
    }

    @Test("After an invalid edit, the file stays and the draft is kept if the person does not want to continue")
    func keepsDraft() async throws {
        try await withBench(SampleFeature.self) { bench in
            try bench.write("{sample: {depth: 2}}", to: bench.userFile)
            bench.environment["EDITOR"] = try editor(bench, "echo 'oops' >\"$file\"")
            bench.person = person(choosing: leaveIt)
            let problem = await failure { try await bench.perform("config.edit") }
            #expect(problem?.code == "config.editor")
            let draft = try #require(problem?.message.split(separator: " ").last).description
            #expect(try bench.read(draft) == "oops\n")
            #expect(try bench.read(bench.userFile) == "{sample: {depth: 2}}")
        }
    }

    @Test("An editor that fails or is missing changes nothing", arguments: ["false", "/nonexistent/editor", " "])
    func fails(editor: String) async throws {
        try await withBench(SampleFeature.self) { bench in
            bench.environment["EDITOR"] = editor
            bench.person = person()
            let problem = await failure { try await bench.perform("config.edit") }
            #expect(problem != nil)
            #expect(!Files.exists(bench.userFile))
            // Nothing was written, so no draft is kept.
            let left = try Files.list(bench.home + "/.config/martlet").map(\.name)
            #expect(left.isEmpty && problem?.message.contains("draft") == false, "\(left) \(problem?.message ?? "")")
        }
    }

    @Test("An editor that fails after writing keeps the draft") func failsLate() async throws {
        try await withBench(SampleFeature.self) { bench in
            bench.environment["EDITOR"] = try editor(bench, "echo '{sample: {depth: 7}}' >\"$file\"; exit 3")
            bench.person = person()
            let problem = await failure { try await bench.perform("config.edit") }
            let draft = try #require(problem?.message.split(separator: " ").last).description
            #expect(try bench.read(draft) == "{sample: {depth: 7}}\n")
        }
    }

    @Test("The editor is not opened if nobody could use it") func headless() async throws {
        try await withBench { bench in
            let problem = await failure { try await bench.perform("config.edit") }
            #expect(problem?.exit == .unanswered)
        }
    }
}

/// A person at a full screen, whose editor writes valid settings and ends with a status.
private final class Lender: Interaction {
    let status: Int32
    let command = Mutex<[String]?>(nil)

    init(status: Int32) { self.status = status }

    var canAsk: Bool { true }
    func answer(_ question: Question) async throws -> Answer { throw InteractionError.wrongKind(question.id) }

    func lendTerminal(to command: [String], environment: [String: String]) async throws -> Int32? {
        self.command.withLock { $0 = command }
        if let file = command.last { try Files.writeAtomically(Array("{sample: {depth: 7}}".utf8), to: file) }
        return status
    }
}
