import Capabilities
import CoreTesting
import HostKit
import HostTesting
import JSON
import Registry
import Screens
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite("Shell model") struct ShellModelTests {
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
            var shell = TestShell(model: model)
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
            try shell.openTalk()
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
