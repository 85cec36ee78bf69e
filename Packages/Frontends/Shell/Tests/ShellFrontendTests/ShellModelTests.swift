import Capabilities
import CoreTesting
import HostKit
import HostTesting
import JSON
import Registry
import Screens
import Settings
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite("Shell model") struct ShellModelTests {
    /// A model and the time of its events.
    private struct Shell {
        var model: ShellModel
        var now = Duration.zero
        var effects: [ShellEffect] = []

        mutating func handle(_ event: ShellEvent) {
            model.handle(event, at: now)
            effects += model.takeEffects()
        }

        /// Presses keys by their names.
        mutating func press(_ names: String...) throws {
            for name in names { handle(.input(.key(try #require(KeyPress(name: name), "\(name)")))) }
        }

        mutating func type(_ text: String) {
            for scalar in text.unicodeScalars { handle(.input(.key(KeyPress(.character(scalar))))) }
        }

        mutating func show(_ screen: String, _ block: Block) throws {
            handle(.state(try #require(view(screen), "\(screen) is not open"), .ready(block)))
            // A person presses keys for what is seen.
            _ = model.draw()
        }

        /// The newest screen with that id that was opened.
        func view(_ screen: String) -> ViewID? {
            effects.reversed().lazy.compactMap { if case .open(let id, screen, _) = $0 { id } else { nil } }.first
        }

        var opened: [String] {
            effects.compactMap { if case .open(_, let screen, _) = $0 { screen } else { nil } }
        }

        var performed: [String] {
            effects.compactMap {
                switch $0 {
                case .perform(_, let action, let arguments): "\(action) \(arguments)"
                case .submit(_, let action, let arguments, let files):
                    "\(action) \(arguments) \(files.parameter) \(files.mentions.flatMap(\.paths))"
                default: nil
                }
            }
        }

        mutating func takeEffects() -> [ShellEffect] {
            defer { effects = [] }
            return effects
        }

        /// What is on the screen, without spaces at the ends of rows.
        mutating func screen() -> [String] {
            let cells = model.draw().cells
            return (0..<cells.rows).map { cells.text(row: $0) }
        }

        mutating func text() -> String { screen().joined(separator: "\n") }
    }

    private func withShell(
        _ size: TerminalSize = TerminalSize(columns: 120, rows: 30), keys: [String: String] = [:],
        _ body: (inout Shell) throws -> Void
    ) async throws {
        try await TestWorkbench.run([LibraryFeature.self]) { bench in
            let workbench = try bench.workbench
            var model = ShellModel(
                name: "bench", registry: workbench.registry, keys: KeyMap(keys), size: size,
                look: PaneLook(level: .none, now: Timestamp(microseconds: 0)))
            let effects = model.takeEffects()
            var shell = Shell(model: model)
            shell.effects = effects
            try body(&shell)
        }
    }

    // MARK: Screens

    @Test("Tabs come from the screens: home first, settings last, and nothing for details")
    func tabs() async throws {
        try await withShell { shell in
            #expect(shell.model.tabs.all.map(\.title) == ["Home", "Shelf", "Settings"])
            // Only what is seen is opened.
            #expect(shell.opened == ["library.news", "library.desk"])
            try shell.press("2")
            #expect(shell.opened == ["library.news", "library.desk", "library.books"])
            #expect(shell.effects.count { if case .see(_, false) = $0 { true } else { false } } == 2)
            try shell.press("1")
            #expect(shell.effects.count { if case .see(_, true) = $0 { true } else { false } } == 2)
            #expect(shell.opened.count == 3)
        }
    }

    @Test("A shell that begins elsewhere does not open the first tab before it is seen")
    func elsewhere() async throws {
        try await TestWorkbench.run([LibraryFeature.self]) { bench in
            var model = ShellModel(
                name: "bench", registry: try bench.workbench.registry, size: TerminalSize(columns: 120, rows: 30),
                look: PaneLook(level: .none, now: Timestamp(microseconds: 0)))
            model.open("library.books")
            var shell = Shell(model: model)
            shell.effects = shell.model.takeEffects()
            #expect(shell.opened == ["library.books"] && shell.effects.count == 1)
            try shell.press("1")
            #expect(shell.opened == ["library.books", "library.news", "library.desk"])
        }
    }

    @Test("The detail of a selected row opens beside a list after a pause, and the last one that was selected counts")
    func details() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            try shell.press("down", "down")
            let timers = shell.takeEffects().compactMap {
                if case .wait(.detail(let number), _) = $0 { number } else { nil }
            }
            #expect(timers.count == 3 && shell.opened.isEmpty)
            for number in timers { shell.handle(.timer(.detail(number))) }
            guard case .open(let id, "library.book", let arguments)? = shell.effects.first, shell.effects.count == 1
            else {
                Issue.record("\(shell.effects)")
                return
            }
            #expect(arguments == ["title": "Sanditon"])
            shell.handle(.state(id, .ready(.text("A fragment"))))
            #expect(shell.text().contains("A fragment"))
            // Return goes to it, and Esc back to the list.
            try shell.press("enter")
            #expect(shell.model.tabs.page.isDetailFocused && !shell.model.tabs.canGoBack)
            try shell.press("esc", "up")
            #expect(!shell.model.tabs.page.isDetailFocused)
        }
    }

    @Test("In a narrow window Return opens the detail over the list, and Esc goes back")
    func narrow() async throws {
        try await withShell(TerminalSize(columns: 80, rows: 24)) { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            #expect(!shell.effects.contains { if case .wait(.detail, _) = $0 { true } else { false } })
            try shell.press("enter")
            try shell.show("library.book", .text("A novel"))
            #expect(shell.text().contains("A novel") && !shell.text().contains("Persuasion"))
            try shell.press("esc")
            #expect(shell.text().contains("Persuasion"))
            #expect(shell.effects.contains { if case .close = $0 { true } else { false } })
        }
    }

    @Test("A screen that fails says why, and what to do")
    func failing() async throws {
        try await withShell { shell in
            try shell.press("2")
            let id = try #require(shell.view("library.books"))
            shell.handle(.state(id, .ready(LibraryFeature.books)))
            shell.handle(.state(id, .failed(ValueFailure(message: "the shelf is locked"), last: LibraryFeature.books)))
            #expect(shell.text().contains("the shelf is locked") && shell.text().contains("Persuasion"))
            _ = shell.takeEffects()
            try shell.press("ctrl-r")
            #expect(shell.effects.contains { if case .refresh(id) = $0 { true } else { false } })
        }
    }

    private struct ValueFailure: Failure {
        let message: String
        var code: String { "library.failed" }
    }

    // MARK: Actions

    @Test("The letter of a link performs its action with the row, and a form asks for what is missing")
    func links() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            try shell.press("down", "x")
            #expect(shell.performed == [#"library.burn {"title":"Persuasion"}"#])
            try shell.press("l")
            #expect(shell.text().contains("The reader") && shell.performed.count == 1)
            // The required value that is missing is selected. Empty, it is not accepted.
            try shell.press("enter", "enter")
            #expect(shell.text().contains("is needed") && shell.performed.count == 1)
            shell.type("Ada")
            try shell.press("enter", "enter")
            #expect(shell.performed.last == #"library.lend {"title":"Persuasion","to":"Ada"}"#)
            #expect(shell.model.overlays.isEmpty)
        }
    }

    @Test("The palette finds an action by letters, and shows a result that was read")
    func palette() async throws {
        try await withShell { shell in
            try shell.press(":")
            shell.type("version")
            #expect(shell.screen().contains { $0.contains("Show the version") })
            try shell.press("enter")
            #expect(shell.performed == ["version {}"])
            let run = try #require(shell.model.runs.all.last)
            #expect(shell.text().contains("▶ "))
            shell.handle(
                .ended(
                    run.id,
                    .success(
                        RunResult(json: ["name": "bench"], schema: .record([.init("name", "", .string)]), exit: .done)))
            )
            #expect(shell.text().contains("bench") && !shell.model.overlays.isEmpty)
            try shell.press("esc")
            #expect(shell.model.overlays.isEmpty)
        }
    }

    @Test("A failed action is told, and stays in the list of what was done")
    func failedAction() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            try shell.press("x")
            let run = try #require(shell.model.runs.all.last)
            shell.handle(.ended(run.id, .failure(AnyFailure(ValueFailure(message: "the book is wet")))))
            #expect(shell.text().contains("the book is wet"))
            // The message goes after a while.
            for effect in shell.takeEffects() { if case .wait(let timer, _) = effect { shell.handle(.timer(timer)) } }
            #expect(!shell.text().contains("the book is wet"))
            try shell.press("R")
            #expect(shell.text().contains("the book is wet"))
        }
    }

    // MARK: Questions

    private func asked(_ shell: inout Shell) throws {
        try shell.press("2")
        try shell.show("library.books", LibraryFeature.books)
        try shell.press("x")
        let run = try #require(shell.model.runs.all.last)
        shell.handle(.question(QuestionID(number: 1), run.id, Question("confirm.burn", "Burn Emma?", .confirm)))
    }

    @Test("Case 57: A question takes no key until a pause, its first answer grants nothing, and Return answers")
    func question() async throws {
        try await withShell { shell in
            try asked(&shell)
            #expect(shell.text().contains("Burn Emma?") && shell.text().contains("Burn (library.burn) asks"))
            func answers(_ shell: Shell) -> [Bool] {
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
            try asked(&shell)
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

            try openTalk(&shell)
            shell.type("Dear")
            try shell.press("enter")
            shell.type("Ada")
            let said = try #require(shell.model.runs.all.last)
            shell.handle(.question(QuestionID(number: 2), said.id, Question("say.sure", "Really?", .confirm)))
            shell.type(", yes")
            #expect(shell.model.overlays.isEmpty && shell.text().contains("› Ada, yes"))
        }
    }

    // MARK: Writing

    private func openTalk(_ shell: inout Shell) throws {
        shell.model.open("library.talk", ["with": "Ada"])
        shell.effects += shell.model.takeEffects()
        try shell.show("library.talk", LibraryFeature.talk)
    }

    @Test("What is written is sent, and a second message waits for the first to be answered")
    func composer() async throws {
        try await withShell { shell in
            try openTalk(&shell)
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
            try openTalk(&shell)
            shell.type("/version")
            try shell.press("enter")
            shell.type("/etc/hosts looks odd")
            try shell.press("enter")
            #expect(shell.performed == ["version {}", #"library.say {"text":"/etc/hosts looks odd"}"#])
        }
    }

    // MARK: Files and completion

    /// The newest request for the files of a word.
    private func asked(_ shell: Shell) throws -> CompletionRequest {
        try #require(
            shell.effects.reversed().lazy.compactMap { if case .complete(let asked) = $0 { asked } else { nil } }.first)
    }

    private func match(_ text: String, isOpen: Bool = false) -> OpenWord.Match {
        OpenWord.Match(text: text, name: text, isOpen: isOpen)
    }

    @Test("Files that a text names go along with it, also if it has to wait, and the text stays as it is")
    func mentions() async throws {
        try await withShell { shell in
            try openTalk(&shell)
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
            try openTalk(&shell)
            let paste = String(repeating: "@secret\n", count: 30)
            shell.handle(.input(.paste(Paste(text: paste))))
            try shell.press("enter")
            #expect(shell.performed.count == 1 && shell.performed.first?.contains("} file") == false)
        }
    }

    @Test("A text after ! is a command, with a space before it a message, and in a long paste a message too")
    func commands() async throws {
        try await withShell { shell in
            try openTalk(&shell)
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
            try openTalk(&shell)
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

    @Test("Tab completes a file after @: one with a space, a folder to go on, several as far as they are the same")
    func tabFile() async throws {
        try await withShell { shell in
            try openTalk(&shell)
            shell.type("see @no")
            try shell.press("tab")
            let request = try asked(shell)
            #expect(request.target == .action("library.say") && request.parameter == "file")
            #expect(request.word.typed == "no")
            shell.handle(.completed(request, .success([match("notes.md"), match("north/", isOpen: true)])))
            #expect(shell.text().contains("notes.md  north/") && shell.text().contains("› see @no"))
            shell.handle(.completed(request, .success([match("notes of May"), match("notes of June")])))
            #expect(shell.text().contains(#"› see @"notes of"#))
            try shell.press("tab")
            shell.handle(.completed(try asked(shell), .success([match("notes of May")])))
            shell.type("please")
            #expect(shell.text().contains(#"› see @"notes of May" please"#))
            shell.type(" @de")
            try shell.press("tab")
            shell.handle(.completed(try asked(shell), .success([match("desk/", isOpen: true)])))
            shell.type("x")
            #expect(shell.text().contains(#"please @desk/x"#) && shell.model.hasComposerFocus)
            try shell.press("tab")
            shell.handle(.completed(try asked(shell), .success([])))
            #expect(shell.text().contains("no file begins with 'desk/x'"))
        }
    }

    @Test("An answer for a text that has changed, or that was left, is ignored")
    func staleCompletion() async throws {
        try await withShell { shell in
            try openTalk(&shell)
            shell.type("@a")
            try shell.press("tab")
            let request = try asked(shell)
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
            try openTalk(&shell)
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

    @Test("Ctrl-C clears what is written, and quits at the second time")
    func interrupt() async throws {
        try await withShell { shell in
            try openTalk(&shell)
            shell.type("never mind")
            try shell.press("ctrl-c")
            #expect(!shell.model.isOver && !shell.text().contains("never mind"))
            try shell.press("ctrl-c")
            #expect(shell.model.isOver)
        }
    }

    // MARK: Keys and state

    @Test("Keys are chosen by the settings; unknown commands, unknown keys and conflicts are told")
    func keys() async throws {
        try await withShell(keys: ["quit": "ctrl-q", "help": "q"]) { shell in
            try shell.press("q")
            #expect(!shell.model.isOver && shell.text().contains("On a page"))
            try shell.press("esc", "ctrl-q")
            #expect(shell.model.isOver)
        }
        #expect(KeyMap(["quti": "q"]).problems == ["there is no command 'quti'; did you mean 'quit'?"])
        #expect(KeyMap(["quit": "strg-q"]).problems.count == 1 && KeyMap(["quit": ""]).problems.count == 1)
        #expect(KeyMap(["quit": "z", "help": "z"]).problems == ["z is given to help and to quit"])
        // What was not accepted has its usual key.
        #expect(KeyMap(["quit": "strg-q"])[KeyPress(.character("q"))] == .quit)
        #expect(KeyMap().problems.isEmpty)
        for command in ShellCommand.allCases { #expect(KeyMap().names[command] != nil, "\(command)") }
    }

    @Test("The next shell shows the pages and the drafts of the last one")
    func state() async throws {
        var kept: ShellState?
        try await withShell { shell in
            try shell.press("2")
            try openTalk(&shell)
            shell.type("half a mess")
            kept = shell.model.state
        }
        let state = try #require(kept)
        #expect(state.tab == "Shelf" && state.pages["Shelf"]?.map(\.screen) == ["library.talk"])
        try await withShell { shell in
            var known = state
            known.pages["Shelf", default: []].append(ShellState.Page(screen: "library.gone", arguments: [:]))
            known.pages["Attic"] = [ShellState.Page(screen: "library.book", arguments: [:])]
            shell.model.restore(known)
            shell.effects += shell.model.takeEffects()
            try shell.show("library.talk", LibraryFeature.talk)
            #expect(shell.model.tabs.current == 1 && shell.text().contains("› half a mess"))
        }
    }

    @Test("Case 39: Every size is drawn, and a small window says so", arguments: [0, 1, 14, 15, 39, 40, 100, 300])
    func sizes(_ number: Int) async throws {
        for size in [
            TerminalSize(columns: number, rows: number), TerminalSize(columns: number, rows: 24),
            TerminalSize(columns: 80, rows: number), TerminalSize(columns: 1_000, rows: 1),
        ] {
            try await withShell(size) { shell in
                try shell.press("2")
                try shell.show("library.books", LibraryFeature.books)
                for keys in [["?"], ["esc", ":"], ["esc", "R"], ["esc", "x"], ["l"]] {
                    for key in keys { try shell.press(key) }
                    let (cells, caret) = shell.model.draw()
                    #expect(cells.columns == size.columns && cells.rows == size.rows)
                    if let caret { #expect(cells.area.contains(caret), "\(size) \(caret)") }
                }
                let isSmall = size.columns < 40 || size.rows < 15
                if isSmall, size.columns > 60, size.rows > 0 { #expect(shell.screen()[0].contains("at least 40×15")) }
            }
        }
    }

    // MARK: A pinned screen

    /// Opens a conversation from the list of books and pins it.
    private func pinTalk(_ shell: inout Shell) throws -> ViewID {
        try shell.press("2")
        try shell.show("library.books", LibraryFeature.books)
        try openTalk(&shell)
        try shell.press("esc")
        let id = try #require(shell.view("library.talk"))
        _ = shell.takeEffects()
        try shell.press("P")
        return id
    }

    /// Whether a screen was closed, opened, hidden or begun again.
    private func isTouched(_ id: ViewID, _ shell: Shell) -> Bool {
        shell.effects.contains {
            switch $0 {
            case .open(id, _, _), .close(id), .see(id, _), .refresh(id): true
            default: false
            }
        }
    }

    @Test("A pinned screen stays in the right half, with its body, while tabs, pages and rows are walked through")
    func pinned() async throws {
        try await withShell { shell in
            let talk = try pinTalk(&shell)
            #expect(!shell.model.tabs.page.isPinFocused && !shell.model.tabs.canGoBack)
            #expect(shell.text().contains("Persuasion") && shell.text().contains("Welcome"))
            try shell.press("down", "enter")
            try shell.show("library.book", .text("A novel"))
            #expect(shell.text().contains("A novel") && shell.text().contains("Welcome"))
            try shell.press("esc", "1")
            #expect(shell.text().contains("─ Desk ─") && shell.text().contains("Welcome"))
            // What it streams is drawn.
            shell.handle(.state(talk, .ready(.text("An answer"))))
            #expect(shell.text().contains("An answer") && !isTouched(talk, shell))
        }
    }

    @Test("Tab moves the focus between both halves, Esc goes back to the left one, and the same key unpins")
    func pinFocus() async throws {
        try await withShell { shell in
            let talk = try pinTalk(&shell)
            try shell.press("shift-tab")
            #expect(shell.model.tabs.page.focused == talk && shell.text().contains("P unpin"))
            try shell.press("tab")
            #expect(!shell.model.tabs.page.isPinFocused)
            // The other screens of the tab are passed on the way.
            try shell.press("tab", "tab")
            #expect(shell.model.tabs.page.focused == talk)
            try shell.press("esc")
            #expect(shell.model.tabs.page.focused != talk && shell.model.tabs.pinned == talk)
            // Writing goes to it.
            try shell.press("tab", "i")
            shell.type("hello")
            try shell.press("enter", "esc", "2")
            #expect(shell.performed.last == #"library.say {"text":"hello"}"#)
            #expect(!shell.model.tabs.page.isPinFocused && shell.model.tabs.current == 1)
            try shell.press("shift-tab", "shift-tab")
            while shell.model.tabs.page.focused != talk { try shell.press("tab") }
            _ = shell.takeEffects()
            try shell.press("P")
            #expect(shell.model.tabs.pinned == nil && shell.model.tabs.page.focused == talk && !isTouched(talk, shell))
            // It is a page like any other again.
            try shell.press("esc")
            #expect(shell.effects.contains { if case .close(talk) = $0 { true } else { false } })
        }
    }

    @Test("A detail that is pinned leaves its list, whose rows then open at Return only, and the same one is gone to")
    func pinnedDetail() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            for effect in shell.takeEffects() {
                if case .wait(.detail(let number), _) = effect { shell.handle(.timer(.detail(number))) }
            }
            try shell.show("library.book", .text("Emma, a novel"))
            let detail = try #require(shell.view("library.book"))
            try shell.press("enter", "P")
            #expect(shell.model.tabs.pinned == detail && shell.model.tabs.page.detail == nil)
            _ = shell.takeEffects()
            try shell.press("down")
            #expect(!shell.effects.contains { if case .wait(.detail, _) = $0 { true } else { false } })
            #expect(shell.text().contains("Emma, a novel") && shell.opened.isEmpty)
            try shell.press("enter")
            #expect(shell.opened == ["library.book"] && shell.model.tabs.canGoBack)
            try shell.press("esc", "up", "enter")
            #expect(shell.model.tabs.page.focused == detail && shell.opened.count == 1)
            #expect(!isTouched(detail, shell))
        }
    }

    @Test("A screen of a tab that is pinned stays on its tab; another one that is pinned takes its place")
    func pinnedTab() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            let books = try #require(shell.view("library.books"))
            try shell.press("P")
            // The other screen of the tab is seen instead.
            let readers = try #require(shell.view("library.readers"))
            #expect(shell.model.tabs.pinned == books && shell.model.tabs.page.focused == readers)
            _ = shell.takeEffects()
            try shell.press("P")
            #expect(shell.model.tabs.pinned == readers && shell.model.tabs.page.focused == books)
            #expect(!isTouched(books, shell) && !isTouched(readers, shell))
            try shell.press("tab", "P")
            #expect(shell.model.tabs.pinned == nil && shell.model.tabs.page.focused == readers)
        }
    }

    @Test("Ctrl-C stops what runs in the half with the focus")
    func stopInHalf() async throws {
        try await withShell { shell in
            _ = try pinTalk(&shell)
            try shell.press("shift-tab", "i")
            shell.type("hello")
            try shell.press("enter", "esc", "esc")
            _ = shell.takeEffects()
            func stops(_ shell: Shell) -> Bool {
                shell.effects.contains { if case .cancel = $0 { true } else { false } }
            }
            try shell.press("ctrl-c")
            #expect(!stops(shell))
            shell.now += .seconds(10)
            try shell.press("shift-tab", "ctrl-c")
            #expect(stops(shell))
        }
    }

    @Test("In a narrow window the pinned screen is not beside, but Tab goes to it")
    func pinnedNarrow() async throws {
        try await withShell(TerminalSize(columns: 80, rows: 24)) { shell in
            let talk = try pinTalk(&shell)
            #expect(shell.text().contains("Persuasion") && !shell.text().contains("Welcome"))
            #expect(shell.text().contains("Talk stays here; Tab goes to it"))
            try shell.press("shift-tab")
            #expect(shell.text().contains("Welcome") && !shell.text().contains("Persuasion"))
            try shell.press("esc")
            #expect(shell.text().contains("Persuasion"))
            shell.handle(.resized(TerminalSize(columns: 100, rows: 24)))
            #expect(shell.text().contains("Persuasion") && shell.text().contains("Welcome"))
            #expect(!shell.effects.contains { if case .close(talk) = $0 { true } else { false } })
        }
    }

    @Test("A pinned screen is pinned in the next shell, and one that is gone is not", arguments: [true, false])
    func pinnedState(isThere: Bool) async throws {
        try await TemporaryDirectory.run { folder in
            try await withShell { shell in
                _ = try pinTalk(&shell)
                var state = shell.model.state
                #expect(state.pinned?.screen == "library.talk" && state.pages.isEmpty)
                if !isThere { state.pinned = ShellState.Page(screen: "library.gone", arguments: [:]) }
                try state.write(to: "shell.json", in: folder, Redactor())
                #expect(try ShellState(file: "\(folder)/shell.json") == state)
            }
            try await withShell { shell in
                shell.model.restore(try ShellState(file: "\(folder)/shell.json"))
                shell.effects += shell.model.takeEffects()
                #expect((shell.model.tabs.pinned != nil) == isThere && shell.model.tabs.current == 1)
                guard isThere else { return }
                try shell.show("library.talk", LibraryFeature.talk)
                try shell.show("library.books", LibraryFeature.books)
                #expect(shell.text().contains("Welcome") && shell.text().contains("Persuasion"))
            }
        }
    }

    @Test("Every size is drawn with a pinned screen", arguments: [0, 1, 15, 40, 99, 100, 101, 240, 300])
    func pinnedSizes(columns: Int) async throws {
        for rows in [0, 14, 15, 100] {
            try await withShell(TerminalSize(columns: 120, rows: 30)) { shell in
                _ = try pinTalk(&shell)
                shell.handle(.resized(TerminalSize(columns: columns, rows: rows)))
                for key in ["1", "2", "tab", "tab", "i", "esc", "P", "3", "P"] {
                    try shell.press(key)
                    let (cells, caret) = shell.model.draw()
                    #expect(cells.columns == columns && cells.rows == rows)
                    if let caret { #expect(cells.area.contains(caret), "\(columns)×\(rows) \(key) \(caret)") }
                }
            }
        }
    }

    // MARK: What was lost once

    @Test("The wheel closes no form, and nothing that was typed is lost")
    func wheelOverForm() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            try shell.press("l")
            shell.type("Ada")
            shell.handle(.input(.mouse(MousePress(.scroll(.down), column: 3, row: 8))))
            #expect(shell.text().contains("› Ada"))
        }
    }

    @Test("Whoever goes on writing answers no question, however long")
    func writingOn() async throws {
        try await withShell { shell in
            try openTalk(&shell)
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

    @Test("Messages that wait are sent after their own answer only, and are drafts if the page is left")
    func queue() async throws {
        try await withShell { shell in
            try openTalk(&shell)
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
            try openTalk(&shell)
            #expect(shell.text().contains("› two"))
            // A draft that is cleared does not come back.
            for _ in 0..<3 { try shell.press("backspace") }
            try shell.press("esc", "esc")
            try openTalk(&shell)
            #expect(!shell.text().contains("› two"))
        }
    }

    @Test("A key acts on no row that took the place of the selected one unseen")
    func lostRow() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            guard case .table(let table) = LibraryFeature.books.content, case .all(let rows) = table.rows else {
                return
            }
            let fewer = Block(
                .table(
                    Table(table.columns, .all(Array(rows.dropFirst())), id: table.rowID, links: table.rowLinks)))
            shell.handle(.state(try #require(shell.view("library.books")), .ready(fewer)))
            try shell.press("x")
            #expect(shell.performed.isEmpty && shell.text().contains("the selected row is gone"))
            try shell.press("x")
            #expect(shell.performed == [#"library.burn {"title":"Persuasion"}"#])
        }
    }

    @Test("Quitting asks a second time while something runs")
    func quitting() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            try shell.press("x", "q")
            #expect(!shell.model.isOver && shell.text().contains("press q again to quit"))
            try shell.press("q")
            #expect(shell.model.isOver)
        }
    }

    @Test("A screen that was refused is opened again")
    func refused() async throws {
        try await withShell { shell in
            try shell.press("2")
            let id = try #require(shell.view("library.books"))
            shell.handle(.refused(id, AnyFailure(ValueFailure(message: "not you"))))
            #expect(shell.text().contains("not you"))
            _ = shell.takeEffects()
            try shell.press("ctrl-r")
            #expect(shell.opened == ["library.books"])
        }
    }

    @Test("Y copies the last code block, and says when there is none or when it is not finished")
    func copyCode() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            try shell.press("Y")
            #expect(shell.text().contains("there is no code block here"))
            let feed = Feed([said("a", .model, "```\none\n", isOpen: true)])
            try shell.show("library.books", .transcript(feed))
            try shell.press("Y")
            #expect(shell.text().contains("the last code block is still being written"))
            feed.replaceLast(with: said("a", .model, "```\none\ntwo\n```"))
            try shell.show("library.books", .transcript(feed))
            #expect(!shell.effects.contains { if case .copy = $0 { true } else { false } })
            try shell.press("Y")
            #expect(shell.effects.contains { if case .copy("one\ntwo") = $0 { true } else { false } })
            // Help is longer than the window.
            try shell.press("?")
            _ = shell.screen()
            try shell.press("page-down")
            #expect(shell.text().contains("copy the last code block"))
        }
    }

    @Test("Z folds and opens all thoughts, and a key for it can be set")
    func foldAll() async throws {
        try await withShell(keys: ["fold-all": "z"]) { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            try shell.press("z")
            #expect(shell.text().contains("nothing here can be folded"))
            let thought = (0..<6).map { "thought \($0)" }.joined(separator: "\n")
            try shell.show("library.books", .transcript(Feed([said("a", .thought, thought), said("b", .model)])))
            #expect(!shell.text().contains("thought 5"))
            try shell.press("g")
            #expect(shell.text().contains("Space open  z all thoughts"))
            try shell.press("z")
            #expect(shell.text().contains("Space fold  z all thoughts"))
            #expect(shell.text().contains("thought 5") && shell.text().contains("all thoughts are open"))
            try shell.press("z", "Z")
            #expect(!shell.text().contains("thought 5") && shell.text().contains("all thoughts are folded"))
        }
    }

    @Test("In a recording thoughts are opened and code is copied too")
    func readerKeys() async throws {
        try await withShell { shell in
            let thought = (0..<6).map { "thought \($0)" }.joined(separator: "\n")
            let feed = Feed([said("a", .thought, thought), said("b", .model, "~~~\ncode\n~~~")])
            shell.model.read(.recording(name: "answer", .transcript(feed)))
            _ = shell.model.draw()
            try shell.press("Z", "Y")
            #expect(shell.text().contains("thought 5"))
            #expect(shell.effects.contains { if case .copy("code") = $0 { true } else { false } })
        }
    }

    @Test("The keys to the sides read long lines, and a hint says when there is more of one")
    func sideways() async throws {
        try await withShell { shell in
            try shell.press("2")
            let line = Log.Line(String(repeating: "word ", count: 40) + "the end")
            try shell.show("library.books", .log(Feed([line])))
            #expect(!shell.text().contains("the end") && shell.text().contains("→ more"))
            try shell.press("right", "l")
            #expect(shell.text().contains("the end") && !shell.text().contains("→ more"))
            try shell.press("left", "h")
            #expect(!shell.text().contains("the end") && shell.text().contains(" word word"))
        }
    }

    @Test("A form comes back with its values if its action fails")
    func formAgain() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            try shell.press("l")
            shell.type("Ada")
            try shell.press("enter", "enter")
            let run = try #require(shell.model.runs.all.last)
            shell.handle(.ended(run.id, .failure(AnyFailure(ValueFailure(message: "she has three already")))))
            #expect(shell.text().contains("› Ada") && shell.text().contains("she has three already"))
        }
    }

    @Test("A form lists what a field may be, given the other values, and Tab completes what is begun")
    func formCompletion() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            _ = shell.takeEffects()
            try shell.press("l")
            let words = try asked(shell)
            #expect(words.target == .action("library.lend") && words.parameter == "to" && words.isOnlyForWords)
            #expect(words.given == ["title": "Emma"] && words.word.typed.isEmpty)
            shell.handle(.completed(words, .success([match("Ada"), match("Alan")])))
            #expect(shell.text().contains("Ada  Alan") && shell.text().contains("→ next word"))
            _ = shell.takeEffects()
            shell.type("A")
            // What was asked is known.
            #expect(shell.effects.isEmpty)
            try shell.press("tab")
            let request = try asked(shell)
            #expect(!request.isOnlyForWords && request.word.typed == "A" && request.given == ["title": "Emma"])
            shell.handle(.completed(request, .success([match("Ada"), match("Alan")])))
            #expect(shell.text().contains("› A ") && shell.text().contains(" Ada  Alan"))
            shell.type("d")
            try shell.press("tab")
            shell.handle(.completed(try asked(shell), .success([match("Ada")])))
            #expect(shell.text().contains("› Ada"))
            // It is written out, so that Tab goes on.
            try shell.press("tab")
            shell.handle(.completed(try asked(shell), .success([match("Ada")])))
            try shell.press("enter")
            #expect(shell.performed.last == #"library.lend {"title":"Emma","to":"Ada"}"#)
        }
    }

    @Test("An answer about another text, another field, other values or a closed form changes nothing")
    func staleFormCompletion() async throws {
        func withForm(_ body: (inout Shell, CompletionRequest) throws -> Void) async throws {
            try await withShell { shell in
                try shell.press("2")
                try shell.show("library.books", LibraryFeature.books)
                try shell.press("l")
                shell.type("A")
                try shell.press("tab")
                try body(&shell, try asked(shell))
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

    @Test("A click goes to a tab and selects a row, and the wheel scrolls")
    func mouse() async throws {
        try await withShell { shell in
            let column = try #require(shell.model.tabLabels.last { $0.text.contains("Shelf") }?.column)
            shell.handle(.input(.mouse(MousePress(.press, .left, column: column + 2, row: 1))))
            #expect(shell.model.tabs.current == 1)
            try shell.show("library.books", LibraryFeature.books)
            let row = try #require(shell.screen().firstIndex { $0.contains("Sanditon") })
            shell.handle(.input(.mouse(MousePress(.press, .left, column: 3, row: row + 1))))
            try shell.press("x")
            #expect(shell.performed == [#"library.burn {"title":"Sanditon"}"#])
            shell.handle(.input(.mouse(MousePress(.scroll(.down), column: 3, row: row + 1))))
            #expect(shell.text().contains("Sanditon"))
        }
    }
}
