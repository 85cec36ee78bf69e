import Capabilities
import CoreTesting
import FileKit
import Glibc
import HostTesting
import JSON
import Registry
import Testing

@Suite("Tool modes", .timeLimit(.minutes(5)))
struct ModeTests {
    private func text(_ desk: Desk, _ name: String) throws -> String? {
        let path = "\(desk.current)/\(name)"
        return Files.exists(path) ? String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self) : nil
    }

    /// Runs the next commands in a new folder, apart from the desk's own files.
    private func enter(_ desk: inout Desk, _ name: String = "work") throws {
        desk.current = "\(desk.folder)/\(name)"
        try Files.makeDirectories("\(desk.folder)/\(name)")
    }

    private static let write = Answers.call("fs_write", input: ["path": "a.txt", "content": "new\n"])
    private static func command(_ text: String) -> String {
        Answers.call("bash_run", input: ["command": .string(text)])
    }

    @Test("In workspace mode, edits are made and shown, and commands are asked about")
    func workspace() async throws {
        try await Desk.run(
            answers: Self.write, Answers.say("Written."), Self.command("echo ran > b.txt"), Answers.say("No.")
        ) { desk in
            try enter(&desk)
            desk.isWatched = true
            let done = try await desk.say("Write", ["mode": "workspace"])
            #expect(done.exit == .done && done.notices.contains("+new"), "\(done.notices)")
            #expect(try text(desk, "a.txt") == "new\n")
            let asked = try await desk.say("Run", ["continue": true])
            #expect(asked.exit == .unanswered, "the mode is kept with the conversation, and nobody is there to approve")
            #expect(try text(desk, "b.txt") == nil)
        }
    }

    @Test("In full mode, sandboxed commands run too, and nothing else")
    func full() async throws {
        let command = "echo ran > b.txt; echo out > ../out.txt; cat ~/.martlet-key; true"
        try await Desk.run(
            answers: Self.command(command), Answers.say("Done."), Answers.call("saw"), Answers.say("No.")
        ) { desk in
            try enter(&desk)
            let done = try await desk.say("Run", ["mode": "full"])
            #expect(done.exit == .done, "\(done.notices)")
            #expect(try text(desk, "b.txt") == "ran\n" && !Files.exists("\(desk.folder)/out.txt"))
            #expect(try await desk.say("Saw", ["continue": true]).exit == .unanswered)
        }
    }

    @Test("Without a sandbox, each command is asked about, also in full mode")
    func bare() async throws {
        try await Desk.run(answers: Self.command("echo ran > b.txt"), Answers.say("No.")) { desk in
            try enter(&desk)
            desk.settings = "{chat: {sandbox: 'none', approvals: [{verdict: 'allow', tool: 'bash.run'}]}}"
            #expect(try await desk.say("Run", ["mode": "full"]).exit == .unanswered)
            #expect(try text(desk, "b.txt") == nil)
        }
    }

    @Test("In read-only mode, no tool that writes is offered")
    func readOnly() async throws {
        try await Desk.run(answers: Self.write, Answers.say("I cannot.")) { desk in
            try enter(&desk)
            try await desk.say("Write", ["mode": "read-only"])
            #expect(!desk.asked[0].tools.contains("fs_write") && desk.asked[0].tools.contains("fs_read"))
            #expect(try text(desk, "a.txt") == nil)
        }
    }

    @Test("A mode stays in the folder for which it was chosen")
    func otherFolder() async throws {
        try await Desk.run(
            answers: Answers.say("1"), Self.write, Answers.say("2"), Self.write, Answers.say("3")
        ) { desk in
            try enter(&desk)
            try await desk.say("one", ["mode": "full"])
            try enter(&desk, "other")
            let other = try await desk.say("two", ["continue": true])
            #expect(try text(desk, "a.txt") == nil && desk.asked[1].tools.isEmpty)
            #expect(other.notices.contains("--mode full allows them here"))
        }
    }

    @Test("The mode of the settings is asked about once in each folder, and is read-only without a terminal")
    func settings() async throws {
        try await Desk.run(
            answers: Self.write, Answers.say("1"), Self.write, Answers.say("2"), Self.write, Answers.say("3"),
            Self.write,
            Answers.say("4")
        ) { desk in
            try enter(&desk)
            desk.settings = "{chat: {mode: 'workspace'}}"
            let headless = try await desk.say("one")
            #expect(headless.notices.contains("--mode workspace allows more"), "\(headless.notices)")
            #expect(try text(desk, "a.txt") == nil)
            let no = ScriptedPerson(["chat.mode": [false]])
            desk.person = no
            try await desk.say("two")
            #expect(try text(desk, "a.txt") == nil && no.asked == ["chat.mode"])
            let yes = ScriptedPerson(["chat.mode": [true]])
            desk.person = yes
            try await desk.say("three")
            #expect(try text(desk, "a.txt") == "new\n" && yes.asked == ["chat.mode"])
            #expect(yes.prompts[0].contains("\(desk.folder)/work"))
            #expect(try desk.folders.record(of: "\(desk.folder)/work").mode == .workspace)
            #expect(
                try await desk.run("chat.approvals").json.array?.map { $0["kept"] } == [
                    "the settings (chat.mode)", "this folder's record",
                ])
            let known = ScriptedPerson()
            desk.person = known
            try await desk.say("four")
            #expect(known.asked.isEmpty)
        }
    }

    // sandbox case 30
    @Test(
        "An approved mode is asked about again if the settings go further, or for another folder at its place")
    func agreedAgain() async throws {
        try await Desk.run(answers: Answers.say("1"), Answers.say("2"), Answers.say("3"), Answers.say("4")) { desk in
            try enter(&desk)
            desk.settings = "{chat: {mode: 'workspace'}}"
            for (number, step) in ["first", "again", "further", "replaced"].enumerated() {
                if step == "further" { desk.settings = "{chat: {mode: 'full'}}" }
                if step == "replaced" { try desk.replace("\(desk.folder)/work") }
                let person = ScriptedPerson(["chat.mode": [true]])
                desk.person = person
                try await desk.say(step)
                #expect(person.asked == (step == "again" ? [] : ["chat.mode"]), "\(step)")
                #expect(desk.asked[number].tools.contains("fs_write"))
            }
        }
    }

    @Test("The mode of a conversation does not apply to another folder at the same place")
    func replacedFolder() async throws {
        try await Desk.run(answers: Answers.say("1"), Answers.say("2"), Answers.say("3")) { desk in
            try enter(&desk)
            try await desk.say("one", ["mode": "full"])
            try await desk.say("two", ["continue": true])
            try desk.replace("\(desk.folder)/work")
            let other = try await desk.say("three", ["continue": true])
            #expect(desk.asked[1].tools.contains("fs_write") && desk.asked[2].tools.isEmpty)
            #expect(other.notices.contains("--mode full allows them here"))
        }
    }

    @Test("Folders approved in the settings are moved to their records, one by one")
    func movedFolders() async throws {
        try await Desk.run(answers: Answers.say("1"), Answers.say("2")) { desk in
            try enter(&desk, "other")
            try enter(&desk)
            let (work, other) = ("\(desk.folder)/work", "\(desk.folder)/other")
            try Files.makeDirectories("\(desk.folder)/config")
            try Files.writeAtomically(
                Array("{chat: {folders: ['\(work)', '\(other)']}}".utf8), to: "\(desk.folder)/config/config.json")
            desk.settings = "{chat: {mode: 'workspace'}}"
            let done = try await desk.say("one")
            #expect(desk.asked[0].tools.contains("fs_write") && done.notices.contains("was moved from chat.folders"))
            #expect(try desk.folders.record(of: work).mode == .workspace)
            let own = try JSONDocument(
                parsing: try Files.read("\(desk.folder)/config/config.json", limit: 1 << 20), name: "config"
            ).value
            #expect(own["chat"]?["folders"] == [.string(other)])
            #expect(!(try await desk.say("two")).notices.contains("chat.folders"))
            #expect(desk.asked[1].tools.contains("fs_write"))
        }
    }

    @Test("A mode that is chosen later is stored with the conversation, by /mode and by --mode")
    func chosenLater() async throws {
        try await Desk.run(
            answers: Answers.say("1"), Answers.say("2"), Self.write, Answers.say("3"), Answers.say("4")
        ) { desk in
            try enter(&desk)
            let id = try #require(try await desk.say("one", ["mode": "workspace"])["session_id"])
            desk.person = ScriptedPerson(types: "/mode off", "/quit")
            try await desk.run("chat.send", ["conversation": id])
            desk.person = HeadlessInteraction()
            try await desk.say("two", ["continue": true])
            #expect(desk.asked[0].tools.contains("fs_write") && desk.asked[1].tools.isEmpty)
            try await desk.say("three", ["conversation": id, "mode": "workspace"])
            #expect(try text(desk, "a.txt") == "new\n")
            try await desk.say("four", ["continue": true])
            #expect(desk.asked[4].tools.contains("fs_write"))
        }
    }

    @Test("A mode of an unsaved turn does not change the stored one")
    func chosenUnkept() async throws {
        try await Desk.run(answers: Answers.say("1"), Answers.say("2"), Answers.say("3")) { desk in
            try enter(&desk)
            let id = try #require(try await desk.say("one", ["temperature": 0.5])["session_id"])
            try await desk.say("two", ["conversation": id, "mode": "workspace", "no-save": true])
            try await desk.say("three", ["conversation": id])
            #expect(desk.asked[1].tools.contains("fs_write") && desk.asked[2].tools.isEmpty)
            #expect(desk.asked[2].json["temperature"] == 0.5)
        }
    }

    @Test("A home folder, or one that contains it, is refused as a workspace", arguments: ["work", "work/home"])
    func home(place: String) async throws {
        try await Desk.run(answers: Self.write, Answers.say("No.")) { desk in
            desk.environment["HOME"] = "\(desk.folder)/work/home"
            try Files.makeDirectories("\(desk.folder)/work/home")
            desk.current = "\(desk.folder)/\(place)"
            let done = try await desk.attempt("chat.send", ["message": "Write", "mode": "workspace"])
            #expect(done.failure?.code == "chat.tool-folder" && desk.asked.isEmpty, "\(done.notices)")
            #expect(done.failure?.message.contains("is or contains your home") == true)
        }
    }

    @Test("A home folder behind a link is refused too, and is never approved")
    func linkedHome() async throws {
        try await Desk.run(answers: Self.write, Answers.say("No.")) { desk in
            try Files.makeDirectories("\(desk.folder)/real")
            try #require(unsafe symlink("\(desk.folder)/real", "\(desk.folder)/home") == 0)
            desk.environment["HOME"] = "\(desk.folder)/home"
            desk.current = "\(desk.folder)/home"
            desk.settings = "{chat: {mode: 'full'}}"
            let person = ScriptedPerson(["chat.mode": [true]])
            desk.person = person
            let done = try await desk.attempt("chat.send", ["message": "Write"])
            #expect(done.failure?.code == "chat.tool-folder" && person.asked.isEmpty)
            #expect(!Files.exists("\(desk.folder)/config/config.json"))
        }
    }

    @Test("A question shows the change to the files, and a no changes nothing")
    func question() async throws {
        try await Desk.run(answers: Self.write, Answers.say("No.")) { desk in
            try enter(&desk)
            try Files.writeAtomically(Array("old\n".utf8), to: "\(desk.folder)/work/a.txt")
            desk.settings = "{chat: {approvals: [{verdict: 'ask', tool: 'fs.write'}]}}"
            desk.person = ScriptedPerson(["chat.approve": ["No"]])
            let done = try await desk.say("Write", ["mode": "workspace"])
            #expect(done.notices.contains("-old\n+new"), "\(done.notices)")
            #expect(try text(desk, "a.txt") == "old\n")
        }
    }

    @Test("A lasting answer about a command is about its program, and is not offered for more")
    func commands() async throws {
        try await Desk.run(
            answers: Self.command("printf ran"), Self.command("printf ran again"), Self.command("printf x > f"),
            Answers.say("Done.")
        ) { desk in
            try enter(&desk)
            let person = ScriptedPerson(["chat.approve": ["Yes, 'printf ran *', always", "No"]])
            desk.person = person
            try await desk.say("Run", ["mode": "workspace"])
            #expect(person.asked == ["chat.approve", "chat.approve"])
            #expect(person.options.last == ["Yes, this once", "No", "No, and say why"])
            let own = try JSON(parsing: try Files.read("\(desk.folder)/config/config.json", limit: 1 << 20))
            let rule = try #require(own["chat"]?["approvals"]?.array?.first)
            #expect(rule["tool"] == "bash.run" && rule["arguments"] == ["/command": "printf ran *"])
            #expect(try text(desk, "f") == nil)
        }
    }

    // sandbox cases 85 and 87
    @Test("A denied path is out of reach of every tool in every mode", arguments: [true, false])
    func denied(isDenied: Bool) async throws {
        try await Desk.run(
            answers: Answers.call("fs_read", input: ["path": "./x/../secrets/k"]),
            Answers.call("grep_search", input: ["pattern": "topsecret", "hidden": true]),
            Self.command("cat secrets/k; grep -r topsecret ."), Answers.say("Done.")
        ) { desk in
            try enter(&desk)
            for name in ["x", "secrets"] { try Files.makeDirectories("\(desk.folder)/work/\(name)") }
            try Files.writeAtomically(Array("topsecretvalue".utf8), to: "\(desk.folder)/work/secrets/k")
            if isDenied {
                desk.settings =
                    "{chat: {approvals: [{verdict: 'deny', tool: 'fs.read', arguments: {'/path': 'secrets/**'}}]}}"
            }
            try await desk.say("Look", ["mode": "full"])
            // The control: without the rule each command contains it.
            for asked in desk.asked.dropFirst() {
                #expect(asked.last.contains("topsecretvalue") != isDenied, "\(asked.last)")
            }
        }
    }
}
