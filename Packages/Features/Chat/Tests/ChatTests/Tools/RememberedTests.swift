import Capabilities
import ChatHistory
import CoreTesting
import FileKit
import HostTesting
import JSON
import Registry
import StorageKit
import Testing

@Suite("Remembered rules", .timeLimit(.minutes(5)))
struct RememberedTests {
    private static let saw = [Answers.call("saw"), Answers.say("Done.")]

    /// Lets a model use the saw with this answer of the user, and returns the conversation.
    @discardableResult
    private func allow(_ answer: JSON, _ desk: inout Desk) async throws -> JSON {
        desk.person = ScriptedPerson(["chat.approve": [answer]])
        let done = try await desk.say("Saw", ["tools": true])
        #expect(done.exit == .done)
        desk.person = HeadlessInteraction()
        return try #require(done["session_id"])
    }

    @Test("A rule of a conversation applies to later commands in it, and to no other conversation")
    func conversation() async throws {
        try await Desk.run(
            answers: Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1]
        ) { desk in
            let id = try await allow("Yes, in this conversation", &desk)
            let again = try await desk.say("Saw", ["conversation": id])
            #expect(again.exit == .done)
            #expect(desk.asked[3].last == "tool: sawed something")
            #expect(try await desk.say("Saw", ["tools": true]).exit == .unanswered)
            #expect(desk.asked[5].last.contains("sawed") == false)
        }
    }

    @Test("A rule of a project applies to all conversations in its folder, and to no other folder")
    func project() async throws {
        try await Desk.run(
            answers: Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1]
        ) { desk in
            for name in ["here", "there"] { try Files.makeDirectories("\(desk.folder)/\(name)") }
            desk.current = "\(desk.folder)/here"
            _ = try desk.write(Array("{}".utf8), to: "here/.martlet/config.json")
            _ = try await allow("Yes, in this project", &desk)
            #expect(try desk.folders.record(of: "\(desk.folder)/here").rules.map { $0["tool"] } == ["saw"])
            #expect(try await desk.say("Saw", ["tools": true]).exit == .done)
            desk.current = "\(desk.folder)/there"
            _ = try desk.write(Array("{}".utf8), to: "there/.martlet/config.json")
            #expect(try await desk.say("Saw", ["tools": true]).exit == .unanswered)
            #expect(!Files.exists("\(desk.folder)/config/config.json"))
        }
    }

    @Test("An 'always' rule is added to the user's own file, without the rules of other files")
    func always() async throws {
        try await Desk.run(answers: Self.saw[0], Self.saw[1]) { desk in
            // As a project's settings would.
            desk.settings = "{chat: {approvals: [{verdict: 'allow', tool: 'dry'}]}}"
            try await allow("Yes, always", &desk)
            let own = try JSON(parsing: try Files.read("\(desk.folder)/config/config.json", limit: 1 << 20))
            #expect(own["chat"]?["approvals"]?.array?.map { $0["tool"] } == ["saw"])
        }
    }

    @Test("Rules are listed and removed")
    func takenBack() async throws {
        try await Desk.run(
            answers: Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1]
        ) { desk in
            desk.settings = "{chat: {approvals: [{verdict: 'deny', tool: 'dry'}]}}"
            _ = try await allow("Yes, in this project", &desk)
            #expect(try await desk.run("chat.approvals").json.array?.map { $0["scope"] } == ["always", "project"])
            #expect(try await desk.run("chat.disallow").notices == "1 rule was removed")
            let id = try await allow("Yes, in this conversation", &desk)
            let rows = try await desk.run("chat.approvals", ["conversation": id]).json.array ?? []
            #expect(rows.map { $0["scope"] } == ["always", "conversation"])
            #expect(rows.map { $0["tool"] } == ["dry", "saw"])
            let taken = try await desk.run("chat.disallow", ["conversation": id])
            #expect(taken.notices == "1 rule was removed")
            #expect(try await desk.run("chat.approvals", ["conversation": id]).json.array?.count == 1)
            #expect(try await desk.say("Saw", ["conversation": id]).exit == .unanswered)
        }
    }

    @Test("In one command, a project rule applies to a new conversation, and a conversation rule does not")
    func following() async throws {
        for (answer, questions) in [("Yes, in this conversation", 2), ("Yes, in this project", 1), ("Yes, always", 1)] {
            try await Desk.run(answers: Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1]) { desk in
                let person = ScriptedPerson([
                    "chat.approve": [.string(answer), .string(answer)], "chat.message": ["one", "/new", "two"],
                ])
                desk.person = person
                try await desk.run("chat.send", ["tools": true])
                #expect(person.asked.count { $0 == "chat.approve" } == questions, "\(answer)")
            }
        }
    }

    @Test("An unreadable rule denies and is reported")
    func unreadable() async throws {
        try await Desk.run(answers: Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1]) { desk in
            desk.current = "\(desk.folder)/here"
            _ = try desk.write(Array("{}".utf8), to: "here/.martlet/config.json")
            try Files.makeDirectories("\(desk.folder)/here")
            let id = try #require(try await desk.say("Saw", ["tools": true])["session_id"]?.string)
            let history = History("\(desk.folder)/data/chat.db") { Timestamp(microseconds: 1_800_000_000_000_000) }
            try await desk.folders.change("\(desk.folder)/here") {
                $0.rules = [["verdict": "perhaps", "tool": "saw"]]
            }
            try await history.add(["tool": "saw"], to: ConversationID(rawValue: id))
            await history.close()
            let done = try await desk.say("Saw", ["conversation": .string(id)])
            #expect(desk.asked.last?.last.contains("a rule of the user denies") == true)
            let told = done.output.notices.filter {
                $0.hasPrefix("'saw' is denied, because a rule stored for this ")
            }
            #expect(told.count == 2, "\(done.notices)")
            #expect(told.first?.contains("conversation") == true && told.last?.contains("project") == true)
            #expect(told.last?.contains("perhaps") == true)
            try await desk.run("chat.disallow")
            try await desk.run("chat.disallow", ["conversation": .string(id)])
            #expect(try await desk.run("chat.approvals", ["conversation": .string(id)]).json == [])
        }
    }

    // sandbox case 30
    @Test("Rules go with their folder, except denials: another folder at its place is asked about again")
    func replaced() async throws {
        let rounds = Array(repeating: Self.saw, count: 3).flatMap(\.self)
        try await Desk.run(answers: rounds[0], rounds[1], rounds[2], rounds[3], rounds[4], rounds[5]) { desk in
            let place = "\(desk.folder)/work"
            try Files.makeDirectories(place)
            desk.current = place
            try await allow("Yes, in this project", &desk)
            try await desk.folders.change(place) { $0.rules.append(["verdict": "deny", "tool": "shop.stock"]) }
            #expect(try await desk.say("Saw", ["tools": true]).exit == .done)
            try desk.replace(place)
            #expect(try await desk.say("Saw", ["tools": true]).exit == .unanswered)
            #expect(try desk.folders.record(of: place).rules == [["verdict": "deny", "tool": "shop.stock"]])
        }
    }

    @Test("A project rule from before folder records is moved to the record when first read")
    func moved() async throws {
        try await Desk.run(answers: Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1]) { desk in
            desk.current = "\(desk.folder)/work"
            try Files.makeDirectories("\(desk.folder)/work")
            let place = "\(desk.folder)/work"
            let saw: JSON = ["verdict": "allow", "tool": "saw", "source": "bench", "scope": "project"]
            let empty: JSON = [
                "verdict": "allow", "tool": "bash.run", "arguments": ["/command": "env *"], "scope": "project",
            ]
            let broken: JSON = ["verdict": "perhaps", "tool": "shop.stock"]
            let history = History("\(desk.folder)/data/chat.db") { Timestamp(microseconds: 1_800_000_000_000_000) }
            try await history.database.write { connection in
                for rule in [saw, empty, broken] {
                    try connection.run("INSERT INTO approvals VALUES (?, ?)", place, rule.text())
                }
            }
            // The state that a program leaves if it ended between the two steps.
            try await desk.folders.change(place) { $0.rules = [saw] }
            let before = try await desk.run("chat.approvals").json.array?.map { $0["tool"] }
            #expect(Set(before?.compactMap { $0?.string } ?? []) == ["saw", "bash.run", "shop.stock"])
            let done = try await desk.say("Saw", ["tools": true])
            #expect(done.exit == .done && desk.asked[1].last == "tool: sawed something", "\(done.notices)")
            #expect(done.notices.contains("you will be asked from now on"))
            #expect(done.notices.contains("'shop.stock' is denied, because a rule stored"))
            #expect(try await history.rules(ofProject: place) == [])
            await history.close()
            let kept = try desk.folders.record(of: place).rules
            #expect(kept.count == 3 && kept.filter { $0 == saw }.count == 1)
            #expect(kept.first { $0["tool"] == "bash.run" }?["verdict"] == "ask")
            #expect(!(try await desk.say("Saw", ["tools": true])).notices.contains("from now on"))
        }
    }

    // sandbox case 81
    @Test("A folder denies everything while its record cannot be read, and says so")
    func damaged() async throws {
        try await Desk.run(answers: Answers.call("shop.stock", input: ["thing": "nails"]), Answers.say("No.")) { desk in
            try Files.makeDirectories("\(desk.folder)/state")
            try Files.writeAtomically(Array("[]".utf8), to: "\(desk.folder)/state/folders.json")
            let done = try await desk.say("Look", ["tools": true])
            #expect(done.notices.contains("could not be read, so no tool is used"), "\(done.notices)")
            #expect(desk.asked[1].last.contains("7 nails") == false)
        }
    }

    @Test("Every rule is listed wherever it is stored, and each is removed by its id")
    func listed() async throws {
        try await Desk.run(answers: Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1]) {
            desk in
            for answer in ["Yes, always", "Yes, in this project", "Yes, in this conversation"] {
                // Without the earlier rules, so that it is asked.
                try await allow(.string(answer), &desk)
                let rows = try await desk.run("chat.approvals").json.array ?? []
                #expect(rows.map { $0["tool"] } == ["saw"], "\(answer): \(rows)")
                #expect(rows.first?["kept"]?.string?.isEmpty == false)
                let id = try #require(rows.first?["id"])
                let wrong = try await desk.attempt("chat.disallow", ["rule": "none"])
                #expect(wrong.exit == .usage)
                let taken = try await desk.run("chat.disallow", ["rule": id])
                #expect(taken.notices.hasPrefix("1 rule was removed"), "\(taken.notices)")
                #expect(try await desk.run("chat.approvals").json == [])
            }
        }
    }

    @Test("An imported conversation brings no rules")
    func imported() async throws {
        try await Desk.run(answers: Self.saw[0], Self.saw[1], Self.saw[0], Self.saw[1]) { desk in
            let id = try await allow("Yes, in this conversation", &desk)
            let text = try await desk.run("chat.export", ["conversation": id, "as": "json"]).json.string ?? ""
            #expect(text.contains("\"saw\""))
            #expect(!text.contains(ConversationSetup.folderOption), "a folder of this machine leaves it in no export")
            let name = try desk.write(Array(text.utf8), to: "talk.json")
            let copy = try #require(try await desk.run("chat.import", ["file": .string(name)])["id"])
            #expect(try await desk.run("chat.approvals", ["conversation": copy]).json == [])
            #expect(try await desk.say("Saw", ["conversation": copy, "tools": true]).exit == .unanswered)
        }
    }
}
