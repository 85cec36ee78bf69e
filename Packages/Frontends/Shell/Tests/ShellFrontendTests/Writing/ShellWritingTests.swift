import Capabilities
import JSON
import Registry
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite("Writing in the shell") struct ShellWritingTests {
    @Test("What is written is sent, and a second message waits for the first to be answered")
    func composer() async throws {
        try await withShell { shell in
            try shell.openTalk()
            // A page with a composer is opened to write in it, and letters are no keys there.
            shell.type("q: quit?")
            #expect(!shell.model.isOver && shell.text().contains("› q: quit?"))
            try shell.press("enter")
            #expect(shell.performed == [#"library.say {"text":"q: quit?"}"#])
            shell.type("two")
            try shell.press("enter")
            #expect(shell.performed.count == 1 && shell.text().contains("1 waiting"))
            let first = try #require(shell.model.runs.all.first)
            shell.handle(.ended(first.id, .success(RunResult(json: .null, schema: .any, exit: .done))))
            #expect(shell.performed.last == #"library.say {"text":"two"}"#)
            // What waits is not sent when the answer is stopped, and is there to be sent later.
            shell.type("three")
            try shell.press("enter", "ctrl-c")
            #expect(shell.effects.contains { if case .cancel = $0 { true } else { false } })
            let second = try #require(shell.model.runs.all.last)
            shell.handle(.ended(second.id, .failure(AnyFailure(CancellationError()))))
            #expect(shell.performed.count == 2 && !shell.model.isOver && shell.text().contains("› three"))
        }
    }

    @Test("An action by its id is done instead of sent, and a path is sent")
    func slash() async throws {
        try await withShell { shell in
            try shell.openTalk()
            shell.type("/version")
            try shell.press("enter")
            shell.type("/etc/hosts looks odd")
            try shell.press("enter")
            #expect(shell.performed == ["version {}", #"library.say {"text":"/etc/hosts looks odd"}"#])
        }
    }

    @Test("Files that a text names go along with it, also if it has to wait, and the text stays as it is")
    func mentions() async throws {
        try await withShell { shell in
            try shell.openTalk()
            #expect(shell.screen().last?.contains("@ file") == true)
            shell.type("Read @a.txt and @\"b c\".")
            try shell.press("enter")
            shell.type("@d")
            try shell.press("enter")
            let first = try #require(shell.model.runs.all.first)
            shell.handle(.ended(first.id, .success(RunResult(json: .null, schema: .any, exit: .done))))
            #expect(
                shell.performed == [
                    #"library.say {"text":"Read @a.txt and @\"b c\"."} file ["a.txt", "b c"]"#,
                    #"library.say {"text":"@d"} file ["d"]"#,
                ])
        }
    }

    @Test("A long paste is shown as a few words, so what it names is not sent along")
    func mentionsInPaste() async throws {
        try await withShell { shell in
            try shell.openTalk()
            let paste = String(repeating: "@secret\n", count: 30)
            shell.handle(.input(.paste(Paste(text: paste))))
            try shell.press("enter")
            #expect(shell.performed.count == 1 && shell.performed.first?.contains("} file") == false)
        }
    }

    @Test("A text after ! is a command, with a space before it a message, and in a long paste a message too")
    func commands() async throws {
        try await withShell { shell in
            try shell.openTalk()
            #expect(shell.screen().last?.contains("! command") == true)
            for text in ["!shelve @a.txt", "!", "! ", " !not now"] {
                shell.type(text)
                try shell.press("enter")
                if text == "!shelve @a.txt" {
                    #expect(shell.text().contains("▶ !shelve @a.txt"))
                    let run = try #require(shell.model.runs.all.last)
                    shell.handle(.ended(run.id, .success(RunResult(json: .null, schema: .any, exit: .done))))
                    #expect(!shell.text().contains("Done"))
                } else if text == "!" {
                    #expect(shell.text().contains("write the command after !"))
                    try shell.press("backspace")
                } else if text == "! " {
                    for _ in 0..<2 { try shell.press("backspace") }
                }
            }
            #expect(
                shell.performed == [
                    #"library.shelve {"order":"shelve @a.txt"}"#, #"library.say {"text":" !not now"}"#,
                ])
            let run = try #require(shell.model.runs.all.last)
            shell.handle(.ended(run.id, .success(RunResult(json: .null, schema: .any, exit: .done))))
            shell.handle(.input(.paste(Paste(text: "!rm\n" + String(repeating: "-r\n", count: 30)))))
            try shell.press("enter")
            #expect(shell.performed.last?.hasPrefix("library.say") == true && shell.performed.count == 3)
        }
    }

    @Test("Commands and messages wait for each other, and what waited becomes a message, not a longer command")
    func commandQueue() async throws {
        try await withShell { shell in
            try shell.openTalk()
            shell.type("!one")
            try shell.press("enter")
            shell.type("two")
            try shell.press("enter")
            #expect(shell.performed.count == 1 && shell.text().contains("1 waiting"))
            let first = try #require(shell.model.runs.all.last)
            shell.handle(.ended(first.id, .success(RunResult(json: .null, schema: .any, exit: .toolFailed))))
            #expect(shell.performed.last == #"library.say {"text":"two"}"#)
            for text in ["!three", "four"] {
                shell.type(text)
                try shell.press("enter")
            }
            try shell.press("ctrl-c")
            #expect(shell.effects.contains { if case .cancel = $0 { true } else { false } })
            #expect(shell.text().contains("›  !three\n   four"))
        }
    }

    @Test("Ctrl-C clears what is written, and quits at the second time")
    func interrupt() async throws {
        try await withShell { shell in
            try shell.openTalk()
            shell.type("never mind")
            try shell.press("ctrl-c")
            #expect(!shell.model.isOver && !shell.text().contains("never mind"))
            try shell.press("ctrl-c")
            #expect(shell.model.isOver)
        }
    }

    @Test("Messages that wait are sent after their own answer only, and are drafts if the page is left")
    func queue() async throws {
        try await withShell { shell in
            try shell.openTalk()
            shell.type("one")
            try shell.press("enter")
            shell.type("two")
            try shell.press("enter")
            shell.type("/version")
            try shell.press("enter")
            let other = try #require(shell.model.runs.all.last)
            shell.handle(.ended(other.id, .success(RunResult(json: .null, schema: .any, exit: .done))))
            #expect(shell.performed.count == 2 && shell.performed.last == "version {}")
            try shell.press("esc", "esc")
            #expect(!shell.model.tabs.canGoBack && shell.text().contains("kept as a draft: two"))
            try shell.openTalk()
            #expect(shell.text().contains("› two"))
            // A draft that is cleared does not come back.
            for _ in 0..<3 { try shell.press("backspace") }
            try shell.press("esc", "esc")
            try shell.openTalk()
            #expect(!shell.text().contains("› two"))
        }
    }
}
