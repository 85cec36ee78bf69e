import Capabilities
import JSON
import Registry
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite("Questions in the shell") struct ShellQuestionTests {
    @Test("Case 57: A question takes no key until a pause, its first answer grants nothing, and Return answers")
    func question() async throws {
        try await withShell { shell in
            try shell.askToBurn()
            #expect(shell.text().contains("Burn Emma?") && shell.text().contains("Burn (library.burn) asks"))
            func answers(_ shell: TestShell) -> [Bool] {
                shell.effects.compactMap { if case .answer(_, .confirm(let yes)?) = $0 { yes } else { nil } }
            }
            for _ in 0..<20 {
                shell.now += .milliseconds(50)
                try shell.press("y", "enter")
            }
            #expect(answers(shell) == [] && shell.model.runs.questions.count == 1)
            shell.now += .milliseconds(400)
            try shell.press("y")
            #expect(answers(shell) == [])
            try shell.press("enter")
            #expect(answers(shell) == [true] && shell.model.overlays.isEmpty && shell.model.runs.questions.isEmpty)
        }
    }

    @Test("A question that is postponed stays open, and declining is an answer")
    func postponed() async throws {
        try await withShell { shell in
            try shell.askToBurn()
            shell.now += .seconds(1)
            try shell.press("esc")
            #expect(shell.model.overlays.isEmpty && shell.text().contains("? 1 question: A"))
            try shell.press("A")
            shell.now += .seconds(1)
            try shell.press("ctrl-c")
            #expect(shell.effects.contains { if case .answer(QuestionID(number: 1), nil) = $0 { true } else { false } })
        }
    }

    @Test("A question never takes the focus from another page, or from somebody who writes")
    func focus() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            try shell.press("x", "1")
            let run = try #require(shell.model.runs.all.last)
            shell.handle(.question(QuestionID(number: 1), run.id, Question("confirm.burn", "Burn Emma?", .confirm)))
            #expect(shell.model.overlays.isEmpty && shell.text().contains("? 1 question: A"))
            shell.handle(.withdrawn(QuestionID(number: 1)))
            #expect(!shell.text().contains("question"))

            try shell.openTalk()
            shell.type("Dear")
            try shell.press("enter")
            shell.type("Ada")
            let said = try #require(shell.model.runs.all.last)
            shell.handle(.question(QuestionID(number: 2), said.id, Question("say.sure", "Really?", .confirm)))
            shell.type(", yes")
            #expect(shell.model.overlays.isEmpty && shell.text().contains("› Ada, yes"))
        }
    }

    @Test("Whoever goes on writing answers no question, however long")
    func writingOn() async throws {
        try await withShell { shell in
            try shell.openTalk()
            shell.type("one")
            try shell.press("enter")
            let run = try #require(shell.model.runs.all.last)
            shell.handle(.question(QuestionID(number: 1), run.id, Question("say.sure", "Really?", .confirm)))
            #expect(!shell.model.overlays.isEmpty)
            for _ in 0..<60 {
                shell.now += .milliseconds(100)
                shell.type("y")
            }
            shell.now += .milliseconds(100)
            try shell.press("enter")
            #expect(!shell.effects.contains { if case .answer = $0 { true } else { false } })
            #expect(shell.model.runs.questions.count == 1 && run.view.map { shell.model.waiting(on: $0) } == 1)
        }
    }
}
