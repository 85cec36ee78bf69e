import Capabilities
import JSON
import Registry
import Screens
import TerminalKit

extension ShellModel {
    /// Gives an event to the dialog, the text that is written, the page, or the shell.
    mutating func receive(_ event: InputEvent) {
        if case .mouse(let press) = event { return receive(press) }
        if case .key(KeyPress(.character("z"), .ctrl)) = event { return add(.suspend) }
        if let overlay = overlays.popLast() { return receive(event, overlay) }
        if hasComposerFocus, let id = tabs.page.focused, self[id]?.field != nil { return write(event, on: id) }
        guard case .key(let press) = event else { return }
        if press == KeyPress(.character("c"), .ctrl) { return interrupt() }
        receiveOnPage(press)
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
        case .form(var form, let target):
            switch form.receive(event) {
            case .unfinished: show(form, for: target)
            case .completing(let word):
                add(.complete(form.request(word, for: target)))
                show(form, for: target)
            case .cancelled: break
            case .submitted(let values):
                let problems = problems(in: values, for: target)
                if problems.isEmpty {
                    carryOut(target, values, title: form.title, from: form)
                } else {
                    form.blame(problems)
                    show(form, for: target)
                    if let first = problems.first { say(first.description, isFailure: true) }
                }
            }
        case .question(var dialog):
            dialog.isOverText = hasComposerFocus
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
            case .postponed: say("the question stays open; \(keys.name(of: .answer)) answers it")
            case .declined: answer(dialog.id, nil)
            case .answered(let answer): self.answer(dialog.id, answer)
            }
        case .reader(var reader):
            guard case .key(let press) = event else {
                overlays.append(.reader(reader))
                return
            }
            if keys[press] == .back || keys[press] == .quit { return }
            if keys[press] == .open, reader.subject == .runs, let id = reader.pane.selectedNumber {
                overlays.append(.reader(reader))
                return read(.run(RunID(number: id)))
            }
            if press == KeyPress(.character("c"), .ctrl) {
                overlays.append(.reader(reader))
                if case .run(let id) = reader.subject, runs[id]?.isRunning == true { return add(.cancel(id)) }
                return interrupt()
            }
            switch keys[press] {
            case .copy: copy(reader.pane)
            case .copyCode: copyCode(reader.pane)
            case .foldAll: tell(reader.pane.toggleAll())
            case let command?: _ = Self.move(&reader.pane, command)
            case nil: break
            }
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
            case (.tab, []) where complete(on: id): return
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

    /// The letters of links come first: they are on the screen, while the other keys have to be known.
    private mutating func receiveOnPage(_ press: KeyPress) {
        let focused = tabs.page.focused
        if let letter = press.text, let offers = focused.flatMap({ self[$0] })?.pane.offers,
            let offer = offers.first(where: { $0.link.key == String(Character(letter)) })
        {
            return follow(offer, of: focused)
        }
        if case .character(let digit) = press.key, ("1"..."9").contains(digit), press.modifiers.isEmpty {
            return goTo(tab: Int(digit.value) - 0x31)
        }
        guard let command = keys[press] else { return }
        if let id = focused, change(id, { Self.move(&$0.pane, command) }) == true { return }
        perform(command)
    }

    private mutating func perform(_ command: ShellCommand) {
        let view = tabs.page.focused.flatMap { self[$0] }
        switch command {
        case .open: if let view { open(view) }
        case .fold, .up, .down, .pageUp, .pageDown, .first, .last, .left, .right, .findNext, .findPrevious: break
        case .next: turn(1)
        case .previous: turn(-1)
        case .back: goBackOrOut()
        case .search: overlays.append(.search(ComposerField()))
        case .commands: openPalette()
        case .menu: if let view { openMenu(view) }
        case .previousTab: goTo(tab: (tabs.current + tabs.all.count - 1) % tabs.all.count)
        case .nextTab: goTo(tab: (tabs.current + 1) % tabs.all.count)
        case .write: if view?.composer != nil { hasComposerFocus = true }
        case .copy: if let view { copy(view.pane) }
        case .copyCode: if let view { copyCode(view.pane) }
        case .foldAll: if let id = view?.id { tell(change(id) { $0.pane.toggleAll() } ?? nil) }
        case .answer: if !showQuestion() { say("nothing asks") }
        case .runs: read(.runs)
        case .pin: pin()
        case .refresh: if let id = tabs.page.focused { refresh(id) }
        case .redraw: add(.repaint)
        case .help: read(.help)
        case .quit: askToQuit()
        }
    }

    private mutating func open(_ view: ShownScreen) {
        if let form = view.pane.form {
            guard let action = registry.actions[form.action] else { return }
            show(
                ActionForm(title: form.submit, action.parameters, values: form.values, only: form.parameters),
                for: .action(form.action))
        } else if change(view.id, { $0.pane.toggle() }) == true {
            return
        } else if let primary = view.pane.primary {
            openPrimary(primary)
        } else if view.composer != nil, view.pane.cursor == nil {
            hasComposerFocus = true
        } else {
            openMenu(view)
        }
    }

    /// On a wide window the detail is there already, and gets the focus.
    private mutating func openPrimary(_ offer: Pane.Offer) {
        if let detail = tabs.page.detail.flatMap({ self[$0] }), !tabs.page.isDetailFocused,
            case .screen(detail.screen.id) = offer.link.target, detail.arguments == offer.arguments
        {
            tabs.page.isDetailFocused = true
            return
        }
        follow(offer, of: tabs.page.focused)
    }

    private mutating func openMenu(_ view: ShownScreen) {
        let offers = view.pane.offers
        guard !offers.isEmpty else { return }
        menu = offers
        let entries = offers.map { offer -> Palette.Entry in
            return Palette.Entry(target: offer.link.formTarget, title: offer.link.title, note: offer.link.key ?? "")
        }
        overlays.append(.palette(Palette(view.title, entries)))
    }

    /// What was folded may be out of sight, or not be there yet.
    private mutating func tell(_ fold: (kind: PaneParts.FoldKind, isFolded: Bool)?) {
        guard let fold else { return say("nothing here can be folded") }
        say("\(fold.kind.words) are \(fold.isFolded ? "folded" : "open")")
    }

    private mutating func copy(_ pane: Pane) {
        guard let text = pane.selectedText else { return say("nothing is selected") }
        add(.copy(text))
    }

    private mutating func copyCode(_ pane: Pane) {
        guard let code = pane.lastCode else { return say("there is no code block here") }
        guard code.isFinished else { return say("the last code block is still being written") }
        add(.copy(code.text))
    }

    /// Moves in a pane; false if the command does not.
    private static func move(_ pane: inout Pane, _ command: ShellCommand) -> Bool {
        switch command {
        case .up: pane.move(down: false)
        case .down: pane.move(down: true)
        case .pageUp: pane.page(down: false)
        case .pageDown: pane.page(down: true)
        case .first: pane.goToStart()
        case .last: pane.goToEnd()
        case .left, .right:
            let isForward = command == .right
            return pane.turn(forward: isForward) || pane.scrollSideways(forward: isForward)
        case .fold: return pane.toggle()
        case .findNext: _ = pane.find(next: true)
        case .findPrevious: _ = pane.find(next: false)
        default: return false
        }
        return true
    }

    // MARK: The shell

    private mutating func openPalette() {
        menu = nil
        overlays.append(.palette(.all(registry)))
    }

    /// Esc closes the topmost thing, and nothing else.
    private mutating func goBackOrOut() {
        if let id = tabs.page.focused, self[id]?.pane.search.isEmpty == false {
            search("")
        } else if tabs.page.isPinFocused {
            tabs.page.isPinFocused = false
            see()
        } else if tabs.page.isDetailFocused {
            tabs.page.isDetailFocused = false
        } else {
            _ = goBack()
        }
    }

    private mutating func goTo(tab: Int) {
        guard tabs.all.indices.contains(tab) else { return }
        tabs.current = tab
        tabs.page.isPinFocused = false
        hasComposerFocus = false
        see()
    }

    /// Gives the focus to the next screen of the page.
    private mutating func turn(_ step: Int) {
        hasComposerFocus = false
        if tabs.pinned != nil { return turnWithPin(step) }
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
            if case .reader(var reader)? = overlays.last {
                overlays.removeLast()
                reader.pane.scroll(by: direction == .down ? 3 : -3)
                overlays.append(.reader(reader))
            } else if overlays.isEmpty, let room {
                _ = change(room.view) { $0.pane.scroll(by: direction == .down ? 3 : -3) }
            }
        case .press where press.button == .left && overlays.isEmpty:
            if place.row == 0, let tab = tab(at: place.column) { return goTo(tab: tab) }
            guard let room else { return }
            tabs.page.isPinFocused = room.view == tabs.pinned
            if tabs.page.isPinFocused {
                // The page keeps its own focus for later.
            } else if let index = tabs.page.views.firstIndex(of: room.view) {
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
        tabLabels.firstIndex { ($0.column..<$0.column + TextWidth.of($0.text)).contains(column) }
    }

    /// What the declaration finds wrong with the values of a form.
    private func problems(in values: JSONObject, for target: ActionForm.Target) -> [ValueError] {
        switch target {
        case .action(let id): registry.actions[id]?.problems(in: values) ?? []
        case .screen(let id): registry.screens[id]?.command(id, adding: []).problems(in: values) ?? []
        }
    }
}
