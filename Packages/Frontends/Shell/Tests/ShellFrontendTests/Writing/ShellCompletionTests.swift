import Capabilities
import JSON
import Registry
import Testing

@testable import ShellFrontend

@Suite("Completion in the shell") struct ShellCompletionTests {
    private func match(_ text: String, isOpen: Bool = false) -> OpenWord.Match {
        OpenWord.Match(text: text, name: text, isOpen: isOpen)
    }

    @Test("Tab completes a file after @: one with a space, a folder to go on, several as far as they are the same")
    func tabFile() async throws {
        try await withShell { shell in
            try shell.openTalk()
            shell.type("see @no")
            try shell.press("tab")
            let request = try shell.completionRequest()
            #expect(request.target == .action("library.say") && request.parameter == "file")
            #expect(request.word.typed == "no")
            shell.handle(.completed(request, .success([match("notes.md"), match("north/", isOpen: true)])))
            #expect(shell.text().contains("notes.md  north/") && shell.text().contains("› see @no"))
            shell.handle(.completed(request, .success([match("notes of May"), match("notes of June")])))
            #expect(shell.text().contains(#"› see @"notes of"#))
            try shell.press("tab")
            shell.handle(.completed(try shell.completionRequest(), .success([match("notes of May")])))
            shell.type("please")
            #expect(shell.text().contains(#"› see @"notes of May" please"#))
            shell.type(" @de")
            try shell.press("tab")
            shell.handle(.completed(try shell.completionRequest(), .success([match("desk/", isOpen: true)])))
            shell.type("x")
            #expect(shell.text().contains(#"please @desk/x"#) && shell.model.hasComposerFocus)
            try shell.press("tab")
            shell.handle(.completed(try shell.completionRequest(), .success([])))
            #expect(shell.text().contains("no file begins with 'desk/x'"))
        }
    }

    @Test("An answer for a text that has changed, or that was left, is ignored")
    func staleCompletion() async throws {
        try await withShell { shell in
            try shell.openTalk()
            shell.type("@a")
            try shell.press("tab")
            let request = try shell.completionRequest()
            shell.type("b")
            shell.handle(.completed(request, .success([match("abc")])))
            #expect(shell.text().contains("› @ab") && !shell.text().contains("abc"))
            try shell.press("backspace", "esc")
            shell.handle(.completed(request, .success([match("abc")])))
            #expect(!shell.text().contains("abc"))
            try shell.press("i")
            shell.handle(.completed(request, .success([match("abc")])))
            #expect(shell.text().contains("› @abc"))
        }
    }

    @Test("Tab completes an id after the slash, and in other texts goes to the next panel")
    func tabID() async throws {
        try await withShell { shell in
            try shell.openTalk()
            shell.type("/library.bo")
            try shell.press("tab")
            #expect(shell.text().contains("› /library.book") && shell.text().contains("library.book  library.books"))
            shell.type("s")
            try shell.press("tab")
            shell.type("x")
            #expect(shell.text().contains("› /library.books x"))
            #expect(!shell.effects.contains { if case .complete = $0 { true } else { false } })
            for _ in 0..<20 { try shell.press("backspace") }
            // The shell offers no shell within itself.
            shell.type("/shell")
            try shell.press("tab")
            #expect(shell.text().contains("no action or screen begins with 'shell'"))
            shell.type(" is what?")
            try shell.press("tab")
            #expect(!shell.model.hasComposerFocus)
        }
    }

    @Test("As many matches are listed as fit on the line")
    func listed() {
        let names = (1...50).map { "name\($0)" }
        #expect(ShellModel.listed(["a", "b"], columns: 80) == "a  b")
        let line = ShellModel.listed(names, columns: 40)
        #expect(line == "name1  name2  name3  name4  and 46 more")
        #expect(ShellModel.listed([String(repeating: "x", count: 90), "b"], columns: 40).hasSuffix("x  and 1 more"))
    }

    @Test("A form lists what a field may be, given the other values, and Tab completes what is begun")
    func formCompletion() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            _ = shell.takeEffects()
            try shell.press("l")
            let words = try shell.completionRequest()
            #expect(words.target == .action("library.lend") && words.parameter == "to" && words.isOnlyForWords)
            #expect(words.given == ["title": "Emma"] && words.word.typed.isEmpty)
            shell.handle(.completed(words, .success([match("Ada"), match("Alan")])))
            #expect(shell.text().contains("Ada  Alan") && shell.text().contains("→ next word"))
            _ = shell.takeEffects()
            shell.type("A")
            // What was asked is known.
            #expect(shell.effects.isEmpty)
            try shell.press("tab")
            let request = try shell.completionRequest()
            #expect(!request.isOnlyForWords && request.word.typed == "A" && request.given == ["title": "Emma"])
            shell.handle(.completed(request, .success([match("Ada"), match("Alan")])))
            #expect(shell.text().contains("› A ") && shell.text().contains(" Ada  Alan"))
            shell.type("d")
            try shell.press("tab")
            shell.handle(.completed(try shell.completionRequest(), .success([match("Ada")])))
            #expect(shell.text().contains("› Ada"))
            // It is written out, so that Tab goes on.
            try shell.press("tab")
            shell.handle(.completed(try shell.completionRequest(), .success([match("Ada")])))
            try shell.press("enter")
            #expect(shell.performed.last == #"library.lend {"title":"Emma","to":"Ada"}"#)
        }
    }

    @Test("An answer about another text, another field, other values or a closed form changes nothing")
    func staleFormCompletion() async throws {
        func withForm(_ body: (inout TestShell, CompletionRequest) throws -> Void) async throws {
            try await withShell { shell in
                try shell.press("2")
                try shell.show("library.books", LibraryFeature.books)
                try shell.press("l")
                shell.type("A")
                try shell.press("tab")
                try body(&shell, try shell.completionRequest())
                #expect(!shell.text().contains("Ada"))
                #expect(shell.performed.isEmpty)
            }
        }
        let answer = Result<[OpenWord.Match], AnyFailure>.success([match("Ada")])
        try await withForm { shell, request in
            shell.type("l")
            shell.handle(.completed(request, answer))
        }
        try await withForm { shell, request in
            try shell.press("up")
            shell.handle(.completed(request, answer))
        }
        try await withForm { shell, request in
            try shell.press("up")
            shell.type("!")
            try shell.press("down")
            shell.handle(.completed(request, answer))
        }
        try await withForm { shell, request in
            try shell.press("esc")
            shell.handle(.completed(request, answer))
        }
        try await withForm { shell, request in
            shell.handle(.completed(request, .failure(AnyFailure(ValueFailure(message: "the list is lost")))))
            #expect(shell.text().contains("the list is lost") && shell.text().contains("› A"))
        }
    }
}
