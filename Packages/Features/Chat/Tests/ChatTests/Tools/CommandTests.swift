import Capabilities
import ChatHistory
import CoreTesting
import FileKit
import Glibc
import HostTesting
import JSON
import Registry
import Screens
import Testing

@testable import Chat

@Suite("Commands of the person", .timeLimit(.minutes(5)))
struct CommandTests {
    private func text(_ desk: Desk, _ name: String) throws -> String? {
        let path = "\(desk.current)/\(name)"
        return Files.exists(path) ? String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self) : nil
    }

    /// Runs the next commands in a new folder, apart from the desk's own files.
    private func enter(_ desk: inout Desk) throws {
        desk.current = "\(desk.folder)/work"
        try Files.makeDirectories("\(desk.folder)/work")
    }

    @Test("A command runs without a question, prints as it runs, and the model sees it with the next message")
    func seen() async throws {
        try await Desk.run(answers: Answers.say("Hello"), Answers.say("Tests fail."), Answers.say("Yes.")) { desk in
            try enter(&desk)
            let person = ScriptedPerson()
            desk.person = person
            let id = try #require(try await desk.say("Hi")["session_id"])
            let run = try await desk.run(
                "chat.run", ["conversation": id, "command": "echo 2 failed | tee made.txt; exit 3"])
            #expect(run.exit == .toolFailed && run["exit_code"] == 3 && run["state"] == "failed")
            #expect(run.output.text == "2 failed\n" && person.asked.isEmpty)
            #expect(try text(desk, "made.txt") == "2 failed\n")
            try await desk.say("Why?", ["conversation": id])
            let said = desk.asked[1].said
            #expect(said.count == 4 && said.last?.hasPrefix("user: I ran this command:") == true, "\(said)")
            #expect(said.last?.contains("exit code 3") == true && said.last?.hasSuffix("Why?") == true)
            // The next request begins with the same messages, so that a cache of them is of use.
            try await desk.say("Sure?", ["conversation": id])
            #expect(Array(desk.asked[2].said.prefix(4)) == said)
            let stored = try await desk.stored(id.string ?? "")
            #expect(stored.count == 7 && stored[2].hasPrefix("tool: I ran this command:") && stored[3] == "user: Why?")
            // To a person it is what the person did, and not a tool of the model.
            let seen = try await desk.run("chat.show", ["conversation": id]).output.text
            #expect(seen.contains("**user**") && !seen.contains("**tool**"), "\(seen)")
        }
    }

    @Test("It runs in the sandbox of models, in the current folder, and not where models may not write")
    func sandbox() async throws {
        try await Desk.run(answers: Answers.say("Hello")) { desk in
            let id = try #require(try await desk.say("Hi")["session_id"])
            // The current folder is the home.
            let home = try await desk.attempt("chat.run", ["conversation": id, "command": "echo x > x.txt"])
            #expect(home.failure?.code == "chat.tool-folder")
            #expect(
                home.failure?.message.hasPrefix("commands cannot run in") == true
                    && !Files.exists("\(desk.folder)/x.txt"))
            try enter(&desk)
            _ = try await desk.attempt("chat.run", ["conversation": id, "command": "echo x > ../x.txt; pwd > y.txt"])
            #expect(try text(desk, "y.txt") == "\(desk.folder)/work\n" && !Files.exists("\(desk.folder)/x.txt"))
            // Without a sandbox a model has to ask. The person has written the command.
            desk.settings = "{chat: {sandbox: 'none'}}"
            let bare = try await desk.run("chat.run", ["conversation": id, "command": "echo x > z.txt"])
            #expect(try text(desk, "z.txt") == "x\n" && bare.notices.contains("without a sandbox"))
        }
    }

    @Test("What a rule denies is not run, and what a rule asks about is not asked about")
    func rules() async throws {
        try await Desk.run(answers: Answers.say("Hello")) { desk in
            try enter(&desk)
            let id = try #require(try await desk.say("Hi")["session_id"])
            desk.settings = """
                {chat: {approvals: [
                    {verdict: 'deny', tool: 'bash.run', arguments: {'/command': 'touch denied*'}},
                    {verdict: 'ask', tool: 'bash.run'}]}}
                """
            let denied = try await desk.attempt("chat.run", ["conversation": id, "command": "touch denied.txt"])
            #expect(denied.failure?.code == "access.denied" && !Files.exists("\(desk.current)/denied.txt"))
            let person = ScriptedPerson()
            desk.person = person
            try await desk.run("chat.run", ["conversation": id, "command": "touch asked.txt"])
            #expect(person.asked.isEmpty && Files.exists("\(desk.current)/asked.txt"))
        }
    }

    @Test("Nobody but a person runs a command, whatever its rights")
    func rights() async throws {
        try await Desk.run(answers: Answers.say("Hello")) { desk in
            try enter(&desk)
            let id = try #require(try await desk.say("Hi")["session_id"])
            let action = try desk.bench.action("chat.run")
            #expect(action.offer == .byName)
            let request = GrantRequest.action(action.id, action.effect, action.offer)
            let bundle = Grant(Grant.Layer(.bundle("night"), effects: .destroys))
            for grant in [Grant.model, .nobody, .client("token", scopes: Set(ClientScope.allCases)), bundle] {
                #expect(grant.decide(request).isDenied, "\(grant)")
            }
            let named = Grant(Grant.Layer(.bundle("night"), actions: ["chat.run"], folders: nil, programs: nil))
            try await desk.bench.open { session in
                let caller = Caller.person(ScriptedPerson()).narrowed(by: named)
                await #expect(throws: RunFailure.notAPerson) {
                    try await session.session.perform(
                        "chat.run", ["conversation": id, "command": "touch bundle.txt"], as: caller,
                        output: RecordingOutput())
                }
            }
            #expect(!Files.exists("\(desk.current)/bundle.txt"))
        }
    }

    @Test("A command may begin a conversation, which the first message names; without one it is refused")
    func begins() async throws {
        try await Desk.run(answers: Answers.say("Clean.")) { desk in
            try enter(&desk)
            let id: JSON = "20261121-213045-k7f3qd8z"
            for arguments: JSONObject in [
                [:], ["session-id": "x"], ["session-id": id, "conversation": "k7f3"],
            ] {
                let refused = try await desk.attempt(
                    "chat.run", arguments.adding("command", "touch refused.txt"))
                #expect(refused.exit == .usage, "\(arguments)")
            }
            let blank = try await desk.attempt("chat.run", ["session-id": id, "command": " "])
            #expect(blank.failure?.code == "chat.no-command")
            #expect(try await desk.run("chat.list").json == [] && !Files.exists("\(desk.current)/refused.txt"))
            try await desk.run("chat.run", ["session-id": id, "command": "echo dirty", "model": "openai/small-1"])
            try await desk.say("Is it clean?", ["session-id": id])
            #expect(desk.asked[0].last.contains("dirty") && desk.asked[0].last.hasSuffix("Is it clean?"))
            #expect(desk.asked[0].json["model"] == "small-1")
            let list = try await desk.run("chat.list").json
            #expect(list[0]?["title"] == "Is it clean?" && list.array?.count == 1)
        }
    }

    @Test("A secret that it prints is not stored")
    func secret() async throws {
        try await Desk.run(answers: Answers.say("Hello"), Answers.say("So.")) { desk in
            try enter(&desk)
            let id = try #require(try await desk.say("Hi")["session_id"])
            let run = try await desk.run("chat.run", ["conversation": id, "command": .string("echo \(Desk.key)")])
            #expect(run.notices.contains("is not stored"))
            try await desk.say("What is it?", ["conversation": id])
            #expect(!desk.asked[1].last.contains(Desk.key) && desk.asked[1].last.contains("‹redacted"))
        }
    }

    @Test("A command that is stopped ends with all that it has started, and what it has printed is stored")
    func stopped() async throws {
        try await ScreenDesk.run { desk in
            let folder = desk.test.host.locations.current
            // It tells when everything that has it open for writing has ended.
            #expect(unsafe mkfifo("\(folder)/alive", 0o600) == 0)
            let alive = unsafe open("\(folder)/alive", O_RDONLY | O_NONBLOCK)
            defer { close(alive) }
            let id = try await desk.history.talk("Hi", "Hello").id
            let output = RecordingOutput()
            let command = "exec 9>alive; echo up >&9; (sleep 1000) & echo started; wait"
            let running = Task {
                try await desk.test.perform(
                    "chat.run", ["conversation": .string(id.rawValue), "command": .string(command)], output: output)
            }
            await output.wait(for: "started")
            running.cancel()
            await #expect(throws: CancellationError.self) { try await running.value }
            var byte: UInt8 = 0
            while true {
                let count = unsafe read(alive, &byte, 1)
                if count == 0 { break }
                await Task.yield()
            }
            let last = try #require(try await desk.history.entries(of: id).last)
            let stored = try #require(PersonCommand(last.message))
            #expect(stored.result.content == "started\n[stopped by the person before it was done]")
            #expect(stored.result.isError && stored.command == command)
        }
    }

    @Test("A command that ends during an answer comes after it, and makes no branch of it")
    func duringAnswer() async throws {
        try await ScreenDesk.run { desk in
            let id = try await desk.history.create(ConversationSetup()).id
            let sending = Task { try await desk.send("Hi", ["conversation": .string(id.rawValue)]) }
            let answer = desk.model["Hi"]
            try await answer.say("Hel")
            let output = RecordingOutput()
            let running = Task {
                try await desk.test.perform(
                    "chat.run", ["conversation": .string(id.rawValue), "command": "echo done"], output: output)
            }
            await output.wait(for: "done")
            try await answer.say("lo")
            try await answer.end()
            _ = try await (sending.value, running.value)
            let entries = try await desk.history.entries(of: id)
            #expect(entries.map(\.message.role) == [.user, .assistant, .tool])
            #expect(entries[1].message.text == "Hello" && desk.test.output.notices.isEmpty)
        }
    }

    @Test("The screen shows a command while it runs, and then what is stored of it")
    func screen() async throws {
        try await ScreenDesk.run { desk in
            let folder = desk.test.host.locations.current
            #expect(unsafe mkfifo("\(folder)/go", 0o600) == 0)
            let id = try await desk.history.talk("Hi", "Hello").id
            try await desk.test.open("chat.conversation", ["conversation": .string(id.rawValue)]) { view in
                let first = try await view.block { $0.composer != nil }
                let target = try #require(first.composer?.command)
                #expect(target == Composer.Target("chat.run", "command"))
                let arguments = try #require(first.composer).arguments
                let running = Task {
                    try await desk.test.perform(
                        target.action, arguments.adding(target.parameter, "echo one; cat go; exit 1"))
                }
                let shown = try await desk.shown(view) { $0.entries.last?.text == "one\n" }
                #expect(shown.entries.last?.title == "!echo one; cat go; exit 1")
                #expect(shown.entries.last?.state == "running" && shown.values?["state"] == "running a command")
                let go = unsafe open("\(folder)/go", O_WRONLY)
                #expect(unsafe write(go, "two\n", 4) == 4 && close(go) == 0)
                _ = try await running.value
                let done = try await desk.shown(view) { $0.values?["state"] == "ready" }
                #expect(done.entries.map(\.text) == ["Hi", "Hello", "one\ntwo\n[exit code 1]"])
                #expect(done.entries.last?.state == "failed" && done.entries.last?.author == .tool)
                #expect(done.entries.allSatisfy { !$0.isOpen } && done.steps.isEmpty)
                #expect(done.feed === first.feed)
            }
        }
    }

    @Test("A new conversation may begin with a command, which its screen shows")
    func newScreen() async throws {
        try await ScreenDesk.run { desk in
            try await desk.test.open("chat.new", ["model": "dictated/m"]) { view in
                let composer = try #require(try await view.block { $0.composer != nil }.composer)
                let target = try #require(composer.command)
                try await desk.test.perform(target.action, composer.arguments.adding(target.parameter, "echo hi"))
                let shown = try await desk.shown(view) { $0.entries.last?.state == "done" }
                #expect(shown.entries.map(\.text) == ["hi\n"] && shown.entries.map(\.title) == ["!echo hi"])
                #expect(shown.title == "New conversation")
                let id = try #require(composer.arguments["session-id"])
                desk.model[
                    "I ran this command:\n\n```\necho hi\n```\n\nIt ended with exit code 0 and printed:\n\n```\nhi\n```\n\nAnd?"
                ]
                .sayLater("Nothing.")
                try await desk.send("And?", ["model": "dictated/m", "conversation": id])
                try await desk.shown(view) { $0.entries.map(\.text) == ["hi\n", "And?", "Nothing."] }
            }
        }
    }
}
