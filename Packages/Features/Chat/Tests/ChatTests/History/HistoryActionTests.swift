import Capabilities
import CoreTesting
import FileKit
import Glibc
import HostTesting
import JSON
import Testing

@Suite("History actions", .timeLimit(.minutes(5)))
struct HistoryActionTests {
    /// A desk with one conversation of two turns, and its id.
    private func withTalk(_ body: (inout Desk, JSON) async throws -> Void) async throws {
        try await Desk.run(answers: Answers.say("Swallows."), Answers.say("In spring."), Answers.say("Yes.")) { desk in
            try await desk.say("Which birds are these?")
            let done = try await desk.say("When do they come?", ["continue": true])
            try await body(&desk, try #require(done["session_id"]))
        }
    }

    private let whole = [
        "user: Which birds are these?", "assistant: Swallows.", "user: When do they come?", "assistant: In spring.",
    ]

    @Test("Conversations are listed, shown and found by their words")
    func found() async throws {
        try await withTalk { desk, id in
            let list = try await desk.run("chat.list").json.array ?? []
            #expect(list.count == 1 && list[0]["id"] == id && list[0]["title"] == "Which birds are these?")
            #expect(list[0]["messages"] == 4 && list[0]["usage"]?["input_tokens"] == 18)
            #expect(try await desk.run("chat.list", ["provider": "anthropic"]).json == [])
            #expect(try await desk.stored(id.string ?? "") == whole)
            let hits = try await desk.run("chat.search", ["words": ["spring"]]).json.array ?? []
            #expect(hits.count == 1 && hits[0]["conversation"] == id && hits[0]["role"] == "assistant")
            #expect(try await desk.run("chat.search", ["words": ["winter"]]).json == [])
        }
    }

    @Test("The newest conversation is used if none is named")
    func newest() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            for verb in ["chat.show", "chat.export", "chat.inspect"] {
                #expect(try await desk.attempt(verb).failure?.code == "history.not-found")
            }
            try await desk.say("first")
            try await desk.say("second")
            #expect(try await desk.run("chat.show")["title"] == "second")
            #expect(try await desk.run("chat.export").json.string?.contains("second") == true)
            #expect(try await desk.run("chat.inspect").json == [])
        }
    }

    @Test("A damaged history is reported to its user, who finds an empty one")
    func damaged() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            let path = "\(desk.folder)/data/chat.db"
            try Files.makeDirectories("\(desk.folder)/data")
            try Files.writeAtomically([UInt8](repeating: 0x5A, count: 5000), to: path)
            let list = try await desk.run("chat.list")
            #expect(list.json == [] && list.notices.contains("\(path) is damaged"), "\(list.notices)")
        }
    }

    @Test("An empty result is an empty list with a notice")
    func empty() async throws {
        try await withTalk { desk, id in
            let hits = try await desk.run("chat.search", ["words": ["winter"]])
            #expect(hits.json == [] && hits.notices == "no message contains these words")
            let rules = try await desk.run("chat.approvals")
            #expect(rules.json == [] && rules.notices.contains("there are no rules for tools"))
            #expect(try await desk.run("chat.search", ["words": ["spring"]]).notices == "")
            for blank in [[], ["", " "]] as [JSON] {
                let nothing = try await desk.attempt("chat.search", ["words": blank])
                #expect(nothing.exit == .usage && nothing.failure?.message.hasPrefix("words is missing") == true)
                let unnamed = try await desk.attempt("chat.rename", ["conversation": id, "title": blank])
                #expect(unnamed.exit == .usage && unnamed.failure?.message.hasPrefix("title is missing") == true)
            }
        }
    }

    @Test("Times are shown in the local zone on a terminal, and with the zone elsewhere")
    func times() async {
        // The zone is the process's own.
        await #expect(processExitsWith: .success) {
            unsafe setenv("TZ", "XYZ-5:30", 1)
            try await Desk.run(answers: Answers.say("A")) { desk in
                try await desk.say("one")
                let piped = try await desk.run("chat.show").output.text
                let time = try #require(piped.firstMatch(of: /\*\*user\*\* · (\S+Z)\n/)?.output.1)
                let moment = try #require(Timestamp(iso8601: String(time)))
                desk.isWatched = true
                let seen = try await desk.run("chat.show").output.text
                let local = (moment + .seconds(19_800)).iso8601.prefix(16).replacing("T", with: " ")
                #expect(seen.contains("**user** · \(local)\n"), "\(seen)")
            }
        }
    }

    @Test("A conversation is renamed")
    func rename() async throws {
        try await withTalk { desk, id in
            let renamed = try await desk.run("chat.rename", ["conversation": id, "title": ["Birds", "again"]])
            #expect(renamed["title"] == "Birds again")
            #expect(try await desk.run("chat.list").json.array?.first?["title"] == "Birds again")
        }
    }

    @Test("A fork continues from an earlier message, and the origin stays")
    func fork() async throws {
        try await withTalk { desk, id in
            let messages = try await desk.run("chat.show", ["conversation": id])["messages"]?.array ?? []
            let fork = try await desk.run("chat.fork", ["conversation": id, "at": try #require(messages[1]["id"])])
            let other = try #require(fork["id"])
            #expect(other != id)
            try await desk.say("Really?", ["conversation": other])
            let stored = try await desk.stored(other.string ?? "")
            #expect(stored == whole.prefix(2) + ["user: Really?", "assistant: Yes."])
            #expect(try await desk.stored(id.string ?? "") == whole)
        }
    }

    @Test("A conversation is deleted and restored")
    func deleteAndRestore() async throws {
        try await withTalk { desk, id in
            try await desk.run("chat.delete", ["conversation": id])
            #expect(try await desk.run("chat.list").json == [])
            let exit = try await desk.attempt("chat.show", ["conversation": id]).exit
            #expect(exit == .usage)
            #expect(try await desk.run("chat.search", ["words": ["spring"]]).json == [])
            #expect(try await desk.run("chat.list", ["deleted": true]).json.array?.count == 1)
            try await desk.run("chat.restore", ["conversation": id])
            #expect(try await desk.stored(id.string ?? "") == whole)
        }
    }

    @Test("A conversation is removed permanently, whether it was deleted before or not")
    func deleteNow() async throws {
        try await withTalk { desk, id in
            try await desk.run("chat.delete", ["conversation": id])
            try await desk.run("chat.delete", ["conversation": id, "now": true])
            #expect(try await desk.run("chat.list", ["deleted": true]).json == [])
            let again = try await desk.attempt("chat.delete", ["conversation": id, "now": true])
            #expect(again.exit == .usage && again.failure?.code == "history.not-found")
        }
    }

    @Test(
        "A conversation is exported and imported in every format",
        arguments: ["markdown", "json", "openai", "anthropic"])
    func exchange(form: String) async throws {
        try await withTalk { desk, id in
            let text = try #require(
                try await desk.run("chat.export", ["conversation": id, "as": .string(form)]).json.string)
            #expect(text.contains("Swallows."))
            let name = try desk.write(Array(text.utf8), to: "talk")
            let added = try await desk.run("chat.import", ["file": .string(name)])
            let copy = try #require(added["id"]?.string)
            #expect(copy != id.string)
            #expect(try await desk.stored(copy) == whole)
        }
    }

    @Test("An invalid document is not imported")
    func badImport() async throws {
        try await withTalk { desk, _ in
            let name = try desk.write(Array(#"{"messages": 7}"#.utf8), to: "talk")
            #expect(try await desk.attempt("chat.import", ["file": .string(name)]).failure?.code == "history.invalid")
            #expect(try await desk.run("chat.list").json.array?.count == 1)
        }
    }
}
