import Capabilities
import JSON
import Registry
import Screens
import TerminalKit

/// The keys of the shell, for the help.
enum ShellKeys {
    static let help: Block = {
        let groups: [(String, [(String, String)])] = [
            (
                "Move",
                [
                    ("↑ ↓, k j", "up and down"), ("Page Up, Page Down, b f", "a page"),
                    ("Home End, g G", "first and last"),
                    ("← →, h l", "another tab of a block"), ("Return", "open, or what the hint says"),
                    ("Space", "fold or open"), ("Tab, Shift-Tab", "the next panel, or the detail"), ("Esc", "back"),
                ]
            ),
            (
                "Find",
                [
                    ("/", "search on this page"), ("n N", "the next and the one before"),
                    (": or Ctrl-P", "all commands and screens"), ("m", "what can be done with the selected row"),
                    ("1 to 9, [ ]", "tabs"),
                ]
            ),
            (
                "Write",
                [
                    ("i", "write"), ("Return", "send"), ("Alt-Return, Ctrl-J", "a new line"),
                    ("Ctrl-O", "write in $EDITOR"),
                    ("/ID", "do that action instead of sending"), ("Esc", "leave the text, which stays"),
                ]
            ),
            (
                "Actions",
                [
                    ("A", "answer the oldest question"), ("R", "what runs and what was done"),
                    ("Ctrl-C", "stop, or quit"),
                    ("y", "copy the selected row"), ("Ctrl-R", "look again"), ("Ctrl-L", "draw again"),
                    ("Ctrl-Z", "stop the shell; fg continues"), ("q", "quit"),
                ]
            ),
        ]
        return .stack(
            groups.map { title, keys in
                let properties = keys.map { Schema.Property($0.0, "", .string) }
                let values = JSONObject(keys.map { ($0.0, JSON.string($0.1)) })
                return Block(.values(Values(properties, values)), id: title, title: title)
            }, id: "help")
    }()
}

extension ShellModel {
    /// Gives an event to the dialog, the text that is written, the page, or the shell.
    mutating func receive(_ event: InputEvent) {
        if case .mouse(let press) = event { return receive(press) }
        if case .key(KeyPress(.character("z"), .ctrl)) = event { return add(.suspend) }
        if let overlay = overlays.popLast() { return receive(event, overlay) }
        if hasComposerFocus, let id = tabs.page.focused, self[id]?.field != nil { return write(event, on: id) }
        guard case .key(let press) = event else { return }
        if !receiveOnPage(press) { receiveInShell(press) }
        wantDetail()
    }

    // MARK: Overlays

    private mutating func receive(_ event: InputEvent, _ overlay: Overlay) {
        switch overlay {
        case .palette(var palette):
            switch palette.receive(event) {
            case .unfinished: overlays.append(.palette(palette))
            case .cancelled: break
            case .chosen(let index):
                if let offer = menu?[index] {
                    menu = nil
                    follow(offer)
                } else {
                    start(palette.entries[index].target, asks: true)
                }
                return
            }
            if overlays.isEmpty { menu = nil }
        case .form(var form):
            switch form.receive(event) {
            case .unfinished: overlays.append(.form(form))
            case .cancelled: break
            case .submitted(let values):
                let problems = form.problems(in: values, registry)
                if problems.isEmpty {
                    carryOut(form.target, values, title: form.title)
                } else {
                    form.blame(problems)
                    overlays.append(.form(form))
                    if let first = problems.first { say(first.description, isFailure: true) }
                }
            }
        case .question(var dialog):
            if !dialog.isArmed(at: now), hasComposerFocus, let id = tabs.page.focused {
                // What somebody was writing goes on being written.
                _ = dialog.receive(event, at: now)
                overlays.append(.question(dialog))
                write(event, on: id)
                return waitForQuestion(dialog)
            }
            switch dialog.receive(event, at: now) {
            case .unfinished:
                overlays.append(.question(dialog))
                waitForQuestion(dialog)
            case .postponed: say("the question stays open; A answers it")
            case .declined: answer(dialog.id, nil)
            case .answered(let answer): self.answer(dialog.id, answer)
            }
        case .reader(var reader):
            guard case .key(let press) = event else {
                overlays.append(.reader(reader))
                return
            }
            if press == KeyPress(.escape) || press == KeyPress(.character("q")) { return }
            if press == KeyPress(.enter), reader.subject == .runs, let id = reader.pane.selectedNumber {
                overlays.append(.reader(reader))
                return read(.run(RunID(number: id)))
            }
            if press == KeyPress(.character("c"), .ctrl) {
                overlays.append(.reader(reader))
                if case .run(let id) = reader.subject, runs[id]?.isRunning == true { return add(.cancel(id)) }
                return interrupt()
            }
            _ = Self.move(&reader.pane, press)
            overlays.append(.reader(reader))
        case .search(var field):
            if case .key(let press) = event {
                if press == KeyPress(.escape) {
                    search("")
                    return
                }
                if press == KeyPress(.enter) {
                    if !field.text.isEmpty, !search(field.text) { say("\(field.text) is not here") }
                    return
                }
            }
            _ = field.receive(event)
            overlays.append(.search(field))
        }
    }

    @discardableResult
    private mutating func search(_ text: String) -> Bool {
        tabs.page.focused.flatMap { change($0) { $0.pane.find(text) } } ?? false
    }

    // MARK: Writing

    private mutating func write(_ event: InputEvent, on id: ViewID) {
        if case .key(let press) = event {
            switch (press.key, press.modifiers) {
            case (.escape, []):
                hasComposerFocus = false
                return
            case (.character("c"), .ctrl): return interrupt()
            case (.character("o"), .ctrl): return add(.edit(id, self[id]?.field?.text ?? ""))
            case (.character("p"), .ctrl): return openPalette()
            case (.pageUp, []): _ = change(id) { $0.pane.page(down: false) }; return
            case (.pageDown, []): _ = change(id) { $0.pane.page(down: true) }; return
            case (.tab, []), (.tab, .shift):
                hasComposerFocus = false
                return turn(press.modifiers.isEmpty ? 1 : -1)
            default: break
            }
        }
        let step = change(id) { $0.field?.receive(event) } ?? nil
        switch step {
        case .submitted: send(from: id)
        case .ended: hasComposerFocus = false
        case .cleared: add(.repaint)
        case .suspended: add(.suspend)
        case .unfinished, .interrupted, nil: break
        }
    }

    // MARK: The page

    private mutating func receiveOnPage(_ press: KeyPress) -> Bool {
        guard let id = tabs.page.focused, let view = self[id] else { return false }
        if change(id, { Self.move(&$0.pane, press) }) == true { return true }
        switch (press.key, press.modifiers) {
        case (.enter, []):
            if let form = view.pane.form {
                guard let action = registry.actions[form.action] else { return true }
                overlays.append(
                    .form(
                        ActionForm(
                            .action(form.action), title: form.submit, action.parameters, values: form.values,
                            only: form.parameters)))
            } else if change(id, { $0.pane.toggle() }) == true {
                return true
            } else if let primary = view.pane.primary {
                openPrimary(primary)
            } else if view.composer != nil, view.pane.cursor == nil {
                hasComposerFocus = true
            } else {
                openMenu(view)
            }
        case (.character("i"), []) where view.composer != nil: hasComposerFocus = true
        case (.character("m"), []): openMenu(view)
        case (.character("y"), []): copy(view)
        case (.character(let letter), []):
            guard let offer = view.pane.offers.first(where: { $0.link.key == String(Character(letter)) }) else {
                return false
            }
            follow(offer)
        default: return false
        }
        return true
    }

    /// On a wide window the detail is there already, and gets the focus.
    private mutating func openPrimary(_ offer: Pane.Offer) {
        if let detail = tabs.page.detail.flatMap({ self[$0] }), !tabs.page.isDetailFocused,
            case .screen(detail.screen.id) = offer.link.target, detail.arguments == offer.arguments
        {
            tabs.page.isDetailFocused = true
            return
        }
        follow(offer)
    }

    private mutating func openMenu(_ view: ShownScreen) {
        let offers = view.pane.offers
        guard !offers.isEmpty else { return }
        menu = offers
        let entries = offers.map { offer -> Palette.Entry in
            let target: ActionForm.Target =
                switch offer.link.target {
                case .action(let id): .action(id)
                case .screen(let id): .screen(id)
                }
            return Palette.Entry(target: target, title: offer.link.title, note: offer.link.key ?? "")
        }
        overlays.append(.palette(Palette(view.title, entries)))
    }

    private mutating func copy(_ view: ShownScreen) {
        guard let text = view.pane.selectedText else { return say("nothing is selected") }
        add(.copy(text))
    }

    /// Keys that move in a pane; false if it is another key.
    private static func move(_ pane: inout Pane, _ press: KeyPress) -> Bool {
        guard press.modifiers.isEmpty else { return false }
        switch press.key {
        case .up, .character("k"): pane.move(down: false)
        case .down, .character("j"): pane.move(down: true)
        case .pageUp, .character("b"): pane.page(down: false)
        case .pageDown, .character("f"): pane.page(down: true)
        case .home, .character("g"): pane.goToStart()
        case .end, .character("G"): pane.goToEnd()
        case .left, .character("h"): return pane.turn(forward: false)
        case .right, .character("l"): return pane.turn(forward: true)
        case .character(" "): return pane.toggle()
        case .character("n"): return pane.search.isEmpty ? false : pane.find(next: true) || true
        case .character("N"): return pane.search.isEmpty ? false : pane.find(next: false) || true
        default: return false
        }
        return true
    }

    // MARK: The shell

    private mutating func receiveInShell(_ press: KeyPress) {
        switch (press.key, press.modifiers) {
        case (.character("q"), []): quit()
        case (.character("c"), .ctrl): interrupt()
        case (.character(":"), _), (.character("p"), .ctrl): openPalette()
        case (.character("?"), _): read(.help)
        case (.character("R"), _): read(.runs)
        case (.character("A"), _): if !showQuestion() { say("nothing asks") }
        case (.character("/"), _): overlays.append(.search(ComposerField()))
        case (.character("r"), .ctrl), (.function(5), []): if let id = tabs.page.focused { add(.refresh(id)) }
        case (.character("l"), .ctrl): add(.repaint)
        case (.escape, []): goBackOrOut()
        case (.tab, []): turn(1)
        case (.tab, .shift): turn(-1)
        case (.character("]"), []): goTo(tab: (tabs.current + 1) % tabs.all.count)
        case (.character("["), []): goTo(tab: (tabs.current + tabs.all.count - 1) % tabs.all.count)
        case (.character(let digit), []) where ("1"..."9").contains(digit): goTo(tab: Int(digit.value) - 0x31)
        default: break
        }
    }

    private mutating func openPalette() {
        menu = nil
        overlays.append(.palette(.all(registry)))
    }

    /// Esc closes the topmost thing, and nothing else.
    private mutating func goBackOrOut() {
        if let id = tabs.page.focused, self[id]?.pane.search.isEmpty == false {
            search("")
        } else if tabs.page.isDetailFocused {
            tabs.page.isDetailFocused = false
        } else {
            _ = goBack()
        }
    }

    private mutating func goTo(tab: Int) {
        guard tabs.all.indices.contains(tab) else { return }
        tabs.current = tab
        hasComposerFocus = false
        see()
    }

    /// Gives the focus to the next screen of the page.
    private mutating func turn(_ step: Int) {
        hasComposerFocus = false
        if tabs.page.detail != nil, tabs.page.isDetailFocused || step > 0 && size.columns >= Self.detailWidth,
            tabs.page.views.count == 1 || !tabs.page.isDetailFocused
        {
            tabs.page.isDetailFocused.toggle()
            return
        }
        tabs.page.isDetailFocused = false
        let count = tabs.page.views.count
        guard count > 1 else { return }
        tabs.page.current = (tabs.page.current + step + count) % count
        see()
    }

    // MARK: Mouse

    private mutating func receive(_ press: MousePress) {
        let place = CellPosition(row: press.row - 1, column: press.column - 1)
        let layout = ShellLayout(size, tabs.page)
        let room = layout.rooms.first { $0.frame.contains(place) }
        switch press.action {
        case .scroll(let direction) where direction == .up || direction == .down:
            if case .reader(var reader)? = overlays.popLast() {
                reader.pane.scroll(by: direction == .down ? 3 : -3)
                overlays.append(.reader(reader))
            } else if overlays.isEmpty, let room {
                _ = change(room.view) { $0.pane.scroll(by: direction == .down ? 3 : -3) }
            }
        case .press where press.button == .left && overlays.isEmpty:
            if place.row == 0, let tab = tab(at: place.column) { return goTo(tab: tab) }
            guard let room else { return }
            if let index = tabs.page.views.firstIndex(of: room.view) {
                tabs.page.current = index
                tabs.page.isDetailFocused = false
            } else {
                tabs.page.isDetailFocused = true
            }
            let isItem = change(room.view) { $0.pane.select(row: place.row) } ?? false
            hasComposerFocus =
                !isItem && self[room.view]?.field != nil && place.row >= room.inside.row + room.inside.rows - 3
            wantDetail()
        default: break
        }
    }

    /// The tab whose label is at a column.
    private func tab(at column: Int) -> Int? {
        var start = name.count + 2
        for (index, tab) in tabs.all.enumerated() {
            let width = TextWidth.of(" \(index + 1) \(tab.title) ")
            if (start..<start + width).contains(column) { return index }
            start += width
        }
        return nil
    }
}

extension ActionForm {
    /// What the declaration finds wrong with the values.
    func problems(in values: JSONObject, _ registry: Registry) -> [ValueError] {
        switch target {
        case .action(let id): registry.actions[id]?.problems(in: values) ?? []
        case .screen(let id): registry.screens[id]?.command(id, adding: []).problems(in: values) ?? []
        }
    }
}
