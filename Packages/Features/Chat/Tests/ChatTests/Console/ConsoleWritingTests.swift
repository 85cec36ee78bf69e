import Capabilities
import FileKit
import HostTesting
import JSON
import Testing

@testable import Chat
@testable import CoreTesting

/// What the composer of a conversation takes, in the console: files after `@`, and commands after `!`.
@Suite("Files and commands in the console", .timeLimit(.minutes(5)))
struct ConsoleWritingTests {
    /// A folder apart from the desk's own files.
    private func enter(_ desk: inout Desk) throws {
        desk.current = "\(desk.folder)/work"
        try Files.makeDirectories(desk.current)
    }

    private func write(_ text: String, to name: String, _ desk: Desk) throws {
        try Files.writeAtomically(Array(text.utf8), to: "\(desk.current)/\(name)")
    }

    @Test("A file that a message names goes along with that message only, and the text stays as it was written")
    func files() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B"), Answers.say("C")) { desk in
            try enter(&desk)
            try write("seven swifts", to: "notes.md", desk)
            try write("eight", to: "a b.txt", desk)
            desk.person = ScriptedPerson(
                types: "compare @notes.md, with @\"a b.txt\"", "ask @alice about @gone.txt", "/attach @notes.md", "more"
            )
            let done = try await desk.run("chat.send")
            let first = desk.asked[0].said.last ?? ""
            #expect(first.contains("compare @notes.md, with") && first.contains("seven swifts"))
            #expect(first.contains("File a b.txt") && first.contains("eight"))
            #expect(done.notices.contains("attaching notes.md, a b.txt"))
            #expect(desk.asked[1].said.last == "user: ask @alice about @gone.txt")
            #expect(desk.asked[2].said.last == "user: more", "a command of the console names its file by itself")
        }
    }

    @Test("A file that cannot be sent is told, and the message waits")
    func binary() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            try enter(&desk)
            try Files.writeAtomically([0, 1, 2], to: "\(desk.current)/raw.bin")
            desk.person = ScriptedPerson(types: "what is @raw.bin", "nothing then")
            let done = try await desk.run("chat.send")
            #expect(done.notices.contains("raw.bin cannot be sent"))
            #expect(desk.asked.map { $0.said.last } == ["user: nothing then"])
        }
    }

    @Test("What a person did not see neither names files nor runs")
    func paste() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            try enter(&desk)
            try write("seven swifts", to: "notes.md", desk)
            let person = FoldingPerson(["!touch made.txt", "see @notes.md"])
            desk.person = person
            try await desk.run("chat.send")
            #expect(desk.asked.map { $0.said.last } == ["user: !touch made.txt", "user: see @notes.md"])
            #expect(!Files.exists("\(desk.current)/made.txt"))
        }
    }

    @Test("A command begins the conversation or follows the last answer, and the model sees it with the next message")
    func commands() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            try enter(&desk)
            desk.person = ScriptedPerson(
                types: "!echo one > made.txt; echo first", "why?", "!echo second; exit 3", "and now?")
            let done = try await desk.run("chat.send")
            #expect(try Files.read("\(desk.current)/made.txt", limit: 9) == Array("one\n".utf8))
            #expect(done.output.text.contains("first\n") && done.notices.contains("exit code 3"))
            let said = desk.asked.map(\.said)
            #expect(said[0].last?.contains("first") == true && said[0].last?.hasSuffix("why?") == true)
            #expect(said[1].last?.contains("exit code 3") == true && said[1].last?.hasSuffix("and now?") == true)
            #expect(Array(said[1].prefix(said[0].count)) == said[0], "the answer and the command follow each other")
            #expect(try await desk.run("chat.list").json.array?.count == 1)
        }
    }

    @Test("A command that is blank, refused, or of a conversation that is not kept ends nothing")
    func refusals() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            try enter(&desk)
            desk.person = ScriptedPerson(types: "! ", " !not a command", "/save")
            let done = try await desk.run("chat.send")
            #expect(done.notices.contains("write the command after !"))
            #expect(desk.asked.map { $0.said.last } == ["user:  !not a command"])
            desk.person = ScriptedPerson(types: "!touch made.txt", "hello")
            let unsaved = try await desk.run("chat.send", ["no-save": true])
            #expect(unsaved.notices.contains("--no-save") && !Files.exists("\(desk.current)/made.txt"))
            #expect(desk.asked.last?.said.last == "user: hello")
        }
    }

    @Test("The files of the folder are completed after @, in quotes where they need them")
    func completion() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            try enter(&desk)
            for name in ["notes.md", "a b.txt", ".hidden", "\"quoted"] { try write("x", to: name, desk) }
            let person = ScriptedPerson(types: "/quit")
            desk.person = person
            try await desk.run("chat.send")
            let offered = Set(person.completions.filter { $0.hasPrefix("@") })
            #expect(offered == ["@notes.md", "@\"a b.txt\""])
        }
    }
}

/// A person who pastes each text, which is shown as one character.
private final class FoldingPerson: Interaction {
    private let texts: [String]
    let canAsk = true

    init(_ texts: [String]) { self.texts = texts }

    func answer(_ question: Question) async throws -> Answer {
        guard case .composition(let history, _) = question.kind else {
            throw InteractionError.unanswered(id: question.id, prompt: question.prompt)
        }
        let left = texts.dropFirst(history.count).first
        return .composition(left.map { WrittenText($0, seen: "\u{E000}") })
    }
}
