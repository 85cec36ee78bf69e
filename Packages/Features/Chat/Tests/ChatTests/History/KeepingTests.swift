import Capabilities
import ChatHistory
import CoreTesting
import FileKit
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@Suite("Secrets in a conversation", .timeLimit(.minutes(5)))
struct KeepingTests {
    private static let unknown = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"

    /// Every byte of the stored files, including the write-ahead log.
    private func kept(_ desk: Desk) throws -> String {
        let files = try Files.list("\(desk.folder)/data").map(\.name).filter { $0.hasPrefix("chat.db") }
        #expect(files.contains("chat.db"))
        return try files.map {
            String(decoding: try Files.read("\(desk.folder)/data/\($0)", limit: 1 << 26), as: UTF8.self)
        }
        .joined()
    }

    @Test(
        "Secrets are stored nowhere, known or not: messages, titles, tools, system prompts, imports",
        arguments: [false, true])
    func canary(keeps: Bool) async throws {
        let said = "my keys are \(Desk.key) and \(Self.unknown)"
        try await Desk.run(
            answers: Answers.call("saw", input: ["wood": .string(said)]), Answers.say("You said \(said)"),
            Answers.say("B")
        ) { desk in
            if keeps { desk.settings = "{chat: {'keep-secrets': true}}" }
            desk.person = ScriptedPerson(["chat.approve": ["Yes, this once"]])
            let done = try await desk.say(said, ["tools": true, "system": .string("Use \(Self.unknown)")])
            #expect(done.notices.contains("a secret in this conversation is not stored") != keeps, "\(done.notices)")
            #expect(done.notices.components(of: "is not stored") == (keeps ? 0 : 1), "told once")
            // The model receives all of it within the turn.
            #expect(String(decoding: desk.asked[1].body, as: UTF8.self).contains(Desk.key))
            let id = try #require(done["session_id"]?.string)
            try await desk.run(
                "chat.rename", ["conversation": .string(id), "title": [.string("about \(Self.unknown)")]])
            let transcript = #"{"messages":[{"role":"user","content":"\#(said)"}]}"#
            let name = try desk.write(Array(transcript.utf8), to: "talk.json")
            try await desk.run("chat.import", ["file": .string(name)])
            let bytes = try kept(desk)
            for secret in [Desk.key, Self.unknown] { #expect(bytes.contains(secret) == keeps, "\(secret)") }
            #expect(bytes.contains("‹redacted") != keeps)
            // A later turn sees the stored text.
            try await desk.say("again", ["conversation": .string(id)])
            #expect(String(decoding: desk.asked[2].body, as: UTF8.self).contains(Self.unknown) == keeps)
        }
    }

    @Test("Secrets are in no draft of an answer that streams in pieces")
    func drafts() async throws {
        try await TemporaryDirectory.run { folder in
            let redactor = Redactor()
            redactor.learn(Secret("the-known-secret"), named: "lab")
            let history = History("\(folder)/chat.db", without: redactor) {
                Timestamp(microseconds: 1_800_000_000_000_000)
            }
            let chat = try await history.create(ConversationSetup())
            let draft = history.begin(in: chat.id, after: nil)
            draft.append([.text("It is the-known-")])
            var stored = ""
            while stored.isEmpty {
                stored = try await history.entries(of: chat.id).last?.message.text ?? ""
                await Task.yield()
            }
            #expect(stored == "It is ")
            draft.append([.text("secret and \(Self.unknown.prefix(9))")])
            draft.append([.text("\(Self.unknown.dropFirst(9)), that is all.")])
            let entry = try await draft.stop()
            #expect(entry.message.text == "It is ‹redacted:lab› and ‹redacted›, that is all.")
            await history.close()
            for name in try Files.list(folder).map(\.name) {
                let bytes = String(decoding: try Files.read("\(folder)/\(name)", limit: 1 << 26), as: UTF8.self)
                #expect(!bytes.contains("the-known-") && !bytes.contains(Self.unknown.prefix(9)))
            }
        }
    }
}

extension String {
    fileprivate func components(of text: String) -> Int {
        var (count, rest) = (0, self[...])
        while let found = rest.firstRange(of: text) {
            count += 1
            rest = rest[found.upperBound...]
        }
        return count
    }
}
