import Capabilities
import JSON
import Registry
import Screens
import TerminalKit

/// All that the shell knows and shows. It changes only by events, and says by effects what is to be done, so that it can
/// be tried without a terminal, a clock or a session.
struct ShellModel: Sendable {
    /// What is above the page.
    enum Overlay: Sendable {
        case palette(Palette)
        case form(ActionForm, for: ActionForm.Target)
        case question(QuestionDialog)
        /// Something to read: help, the actions of this shell, or the output of one.
        case reader(Reader)
        /// A text to search for, on the page.
        case search(ComposerField)
    }

    /// Blocks of the shell itself.
    struct Reader: Sendable {
        enum Subject: Sendable, Hashable {
            case help
            case runs
            case run(RunID)
            /// What another command has recorded.
            case recording(name: String, Block)
        }

        let subject: Subject
        var pane = Pane()
    }

    let name: String
    let registry: Registry
    let keys: KeyMap
    var size: TerminalSize
    var look: PaneLook
    var tabs: ShellTabs
    private(set) var views: [ViewID: ShownScreen] = [:]
    var runs = RunList()
    /// The overlays, the one that gets the keys last.
    var overlays: [Overlay] = []
    /// What the entries of the palette stand for, if it is the menu of a row.
    var menu: [Pane.Offer]?
    var hasComposerFocus = false
    /// Whether the terminal shows pictures.
    var showsPictures = false
    /// Whether one is shown, until a key is pressed.
    private var isCovered = false
    /// The newest message, until it was seen long enough.
    private(set) var notice: (number: Int, text: String, isFailure: Bool)?
    private(set) var isOver = false
    /// What is to be done since it was last taken.
    private var effects: [ShellEffect] = []
    /// The time since the shell began, as of the newest event.
    private(set) var now = Duration.zero

    private var nextView = 1
    private var drafts: [String: String] = [:]
    /// Messages that wait for the end of the one before, by the screen of their composer.
    private var queues: [ViewID: [ComposedText]] = [:]
    private var seen: Set<ViewID> = []
    private var detailNumber = 0
    private var hasClock = false
    private var lastInterrupt: Duration?
    private var lastQuit: Duration?
    private var lastRing: Duration?
    private var hasNoticeTimer = false
    /// The screen that was opened to write in it, until it has shown where.
    private var writesIn: ViewID?

    /// How long a message is seen.
    private static let noticeTime = Duration.seconds(5)
    /// How long a selection is still before its detail is opened.
    private static let detailPause = Duration.milliseconds(100)
    /// From this width on the detail is beside its list.
    static let detailWidth = 100

    init(name: String, registry: Registry, keys: KeyMap = KeyMap(), size: TerminalSize, look: PaneLook) {
        (self.name, self.registry, self.keys, self.size, self.look) = (name, registry, keys, size, look)
        var views: [ViewID: ShownScreen] = [:]
        var next = 1
        tabs = ShellTabs(registry.screens.all) { screen in
            let id = ViewID(number: next)
            next += 1
            views[id] = ShownScreen(id, screen, [:])
            return id
        }
        (self.views, nextView) = (views, next)
        see()
        if let problem = keys.problems.first { say("shell.keys: \(problem)", isFailure: true) }
    }

    /// What is to be done since it was last asked for.
    mutating func takeEffects() -> [ShellEffect] { exchange(&effects, with: []) }

    subscript(_ id: ViewID) -> ShownScreen? { views[id] }

    /// Changes a screen in place.
    mutating func change<Result>(_ id: ViewID, _ body: (inout ShownScreen) -> Result) -> Result? {
        guard var view = views.removeValue(forKey: id) else { return nil }
        defer { views[id] = view }
        return body(&view)
    }

    mutating func add(_ effect: ShellEffect) { effects.append(effect) }

    mutating func quit() {
        isOver = true
        effects.append(.quit)
    }

    /// Quits, at the second time if that stops something.
    mutating func askToQuit() {
        defer { lastQuit = now }
        let isSecond = lastQuit.map { now - $0 < .seconds(2) } ?? false
        guard !runs.running.isEmpty, !isSecond else { return quit() }
        let what = runs.running.count == 1 ? runs.running[0].title : "\(runs.running.count) actions"
        say("\(what) would be stopped; press \(keys.name(of: .quit)) again to quit")
    }
}

// MARK: Events

extension ShellModel {
    /// Takes an event that came at a time since the shell began.
    mutating func handle(_ event: ShellEvent, at now: Duration) {
        self.now = now
        switch event {
        case .input(let input): if !isCovered || isUncovered(by: input) { receive(input) }
        case .resized(let size), .continued(let size):
            // The picture was for another size, or is gone.
            uncover()
            self.size = size
            see()
        case .room: break
        case .gone: quit()
        case .state(let id, let state): take(state, of: id)
        case .refused(let id, let failure):
            let width = columns(of: id)
            _ = change(id) { [look] in $0.refuse(failure, columns: width, look) }
        case .rows(let id, let path, let result):
            switch result {
            case .success(let page):
                let width = columns(of: id)
                _ = change(id) { [look] in $0.take(page, at: path, columns: width, look) }
            case .failure(let failure): say(failure.message, isFailure: true)
            }
        case .progress(let id, let progress): runs.change(id) { $0.progress = progress }
        case .shown(let id, let block): runs.change(id) { $0.shown = block }
        case .text(let id, let text): runs.append(text, to: id)
        case .notice(let id, let text):
            if let id { runs.append(notice: text, to: id) }
            say(text)
        case .question(let id, let run, let question): ask(id, run, question)
        case .withdrawn(let id):
            runs.forget(id)
            overlays.removeAll { if case .question(let dialog) = $0 { dialog.id == id } else { false } }
        case .ended(let id, let result): end(id, result)
        case .picture(let id, let picture): show(picture, of: id)
        case .timer(let timer): expire(timer)
        case .completed(let request, let result): take(result, for: request)
        case .edited(let id, let text): _ = change(id) { $0.field?.begin(text) }
        }
    }

    /// Shows a picture that an action hands over, on a terminal that can.
    private mutating func show(_ picture: Picture, of run: RunID) {
        func refuse(_ why: String) {
            let text = "\(why); \(PlainText.escape(picture.saving))"
            runs.append(notice: text, to: run)
            say(text, isFailure: true)
        }
        guard showsPictures else { return refuse("this terminal shows no pictures") }
        do throws(TerminalError) {
            let name = PlainText.escape(picture.name)
            add(.cover(try TerminalPicture(png: picture.bytes), caption: "\(name) — any key goes back"))
            isCovered = true
        } catch {
            refuse(error.message)
        }
    }

    private mutating func uncover() {
        guard isCovered else { return }
        isCovered = false
        add(.uncover)
    }

    /// Removes the picture if something was pressed, which does nothing else. Answers of the terminal go on.
    private mutating func isUncovered(by input: InputEvent) -> Bool {
        switch input {
        case .key, .text, .paste: uncover()
        case .mouse(let press): if press.action == .press { uncover() }
        case .focus, .reply: return true
        }
        return false
    }

    private mutating func take(_ state: ScreenState, of id: ViewID) {
        let width = columns(of: id)
        let wanted = change(id) { [look, drafts] view in
            view.take(state, columns: width, look) { drafts[$0.draftKey] ?? "" }
            return view.wantedRows()
        }
        for (path, source, request) in wanted ?? [] { effects.append(.rows(id, path: path, source, request)) }
        // A conversation is opened to write in it.
        if writesIn == id, state.block != nil {
            writesIn = nil
            if tabs.page.focused == id, views[id]?.field != nil, overlays.isEmpty { hasComposerFocus = true }
        }
        wantDetail()
    }

    private mutating func expire(_ timer: ShellTimer) {
        switch timer {
        case .notice(let number):
            hasNoticeTimer = false
            if notice?.number == number { notice = nil } else if let notice { waitForEnd(of: notice.number) }
        case .detail(let number): if number == detailNumber { openDetail() }
        case .question: break
        case .clock:
            hasClock = false
            tick()
        }
    }

    /// Keeps the clock beside running actions going.
    private mutating func tick() {
        guard !hasClock, !runs.running.isEmpty else { return }
        hasClock = true
        effects.append(.wait(.clock, .seconds(1)))
    }

    /// Shows a message for a while.
    mutating func say(_ text: String, isFailure: Bool = false) {
        let number = (notice?.number ?? 0) + 1
        notice = (number, text, isFailure)
        waitForEnd(of: number)
    }

    /// One timer is enough: a newer message is seen for longer, not shorter.
    private mutating func waitForEnd(of number: Int) {
        guard !hasNoticeTimer else { return }
        hasNoticeTimer = true
        effects.append(.wait(.notice(number), Self.noticeTime))
    }
}

// MARK: Screens

extension ShellModel {
    /// The screens that are seen now.
    var visible: [ViewID] {
        ShellLayout(size, tabs.page).rooms.map(\.view)
    }

    /// Opens what is seen for the first time, and lets the others rest.
    mutating func see() {
        passByPinned()
        let visible = Set(self.visible)
        for id in visible.subtracting(seen).sorted(by: { $0.number < $1.number }) {
            guard let view = views[id] else { continue }
            if view.isOpen {
                // Others may have changed what it shows.
                effects += [.see(id, true), .refresh(id)]
            } else {
                effects.append(.open(id, screen: view.screen.id, view.arguments))
                _ = change(id) { $0.isOpen = true }
            }
        }
        for id in seen.subtracting(visible) where views[id] != nil { leave(id) }
        seen = visible
        wantDetail()
    }

    /// Lets a screen rest that is no longer seen. One that was only about to be opened is not, as the first tab when a
    /// shell begins elsewhere.
    private mutating func leave(_ id: ViewID) {
        let opening = effects.firstIndex { if case .open(id, _, _) = $0 { true } else { false } }
        guard let opening else { return effects.append(.see(id, false)) }
        effects.remove(at: opening)
        _ = change(id) { $0.isOpen = false }
    }

    mutating func make(_ screen: Screen, _ arguments: JSONObject) -> ViewID {
        let id = ViewID(number: nextView)
        nextView += 1
        views[id] = ShownScreen(id, screen, arguments)
        return id
    }

    mutating func close(_ id: ViewID) {
        guard let view = views.removeValue(forKey: id) else { return }
        if let composer = view.composer, let text = view.field?.text {
            let waiting = unsent(on: id)
            drafts[composer.draftKey] = text.isEmpty && waiting.isEmpty ? nil : ComposedText.joined(waiting + [text])
            if !waiting.isEmpty { say("not sent, and kept as a draft: \(ComposedText.joined(waiting))") }
        }
        if view.isOpen { effects.append(.close(id)) }
        seen.remove(id)
        queues[id] = nil
    }

    /// The messages that wait on a screen.
    private func unsent(on id: ViewID) -> [String] { (queues[id] ?? []).map(\.text) }

    /// Looks again, also at a screen that could not be opened.
    mutating func refresh(_ id: ViewID) {
        guard let view = views[id] else { return }
        guard view.refusal != nil else { return effects.append(.refresh(id)) }
        effects += [.close(id), .open(id, screen: view.screen.id, view.arguments)]
    }

    /// Opens a screen on its tab, or above the page that is seen.
    ///
    /// - Parameter onTop: above the page in any case.
    mutating func open(_ id: String, _ arguments: JSONObject = [:], onTop: Bool = false) {
        guard let screen = registry.screens[id] else { return say("there is no screen \(id)", isFailure: true) }
        if !onTop, goToPinned(id, arguments) { return }
        tabs.page.isPinFocused = false
        if !onTop, arguments.isEmpty, let (tab, index) = place(of: screen) {
            tabs.current = tab
            while let page = tabs.pop() { closeAll(page) }
            tabs.page.current = index
            tabs.page.isDetailFocused = false
        } else {
            tabs.push(ShellTabs.Page(views: [make(screen, arguments)]))
        }
        let shown = tabs.page.focused
        hasComposerFocus = shown.flatMap { views[$0]?.field } != nil
        writesIn = hasComposerFocus ? nil : shown
        see()
    }

    func place(of screen: Screen) -> (tab: Int, index: Int)? {
        for (number, tab) in tabs.all.enumerated() {
            if let index = tab.pages[0].views.firstIndex(where: { views[$0]?.screen.id == screen.id }) {
                return (number, index)
            }
        }
        return nil
    }

    private mutating func closeAll(_ page: ShellTabs.Page) {
        for id in page.views { close(id) }
        if let detail = page.detail { close(detail) }
    }

    /// Goes back to the page before; false if there is none.
    mutating func goBack() -> Bool {
        guard let page = tabs.pop() else { return false }
        closeAll(page)
        hasComposerFocus = false
        see()
        return true
    }

    // MARK: Details

    /// Waits for the selection to be still, and then shows its detail.
    mutating func wantDetail() {
        guard tabs.page.arrangement == .alternatives, let leading = tabs.page.leading, let view = views[leading] else {
            return
        }
        guard size.columns >= Self.detailWidth, tabs.pinned == nil, let offer = view.pane.detail else {
            if let detail = tabs.page.detail, !tabs.page.isDetailFocused {
                close(detail)
                tabs.page.detail = nil
                see()
            }
            return
        }
        if let detail = tabs.page.detail.flatMap({ views[$0] }), case .screen(detail.screen.id) = offer.link.target,
            detail.arguments == offer.arguments
        {
            return
        }
        detailNumber += 1
        effects.append(.wait(.detail(detailNumber), Self.detailPause))
    }

    private mutating func openDetail() {
        guard tabs.page.arrangement == .alternatives, size.columns >= Self.detailWidth, tabs.pinned == nil,
            let leading = tabs.page.leading, let offer = views[leading]?.pane.detail,
            case .screen(let id) = offer.link.target, let screen = registry.screens[id]
        else { return }
        if let detail = tabs.page.detail { close(detail) }
        tabs.page.detail = make(screen, offer.arguments)
        see()
    }
}

// MARK: Actions

extension ShellModel {
    /// Follows a link: opens a screen, performs an action, or asks for what it still needs.
    ///
    /// - Parameter view: the screen with the link; nil if it was chosen from a menu, which has kept the row.
    mutating func follow(_ offer: Pane.Offer, of view: ViewID? = nil) {
        if !offer.row.isEmpty, let view, views[view]?.pane.hasLostRow == true {
            // The row that is selected now was not selected by the person, who may not even have seen it.
            return say("the selected row is gone; another one is selected now")
        }
        start(offer.link.formTarget, offer.arguments, title: offer.link.title)
    }

    /// Begins something, with a form if values are missing.
    ///
    /// - Parameter asks: whether to show the form in any case, if there is something to enter.
    mutating func start(
        _ target: ActionForm.Target, _ arguments: JSONObject = [:], title: String? = nil, asks: Bool = false
    ) {
        let (parameters, name): ([ParameterDeclaration], String)
        switch target {
        case .action(let id):
            guard let action = registry.actions[id] else { return say("there is no action \(id)", isFailure: true) }
            (parameters, name) = (action.parameters, title ?? action.summary)
        case .screen(let id):
            guard let screen = registry.screens[id] else { return say("there is no screen \(id)", isFailure: true) }
            (parameters, name) = (screen.parameters, title ?? screen.title)
        }
        let isMissing = parameters.contains { $0.isRequired && arguments[$0.name] == nil }
        // A screen is shown at once; its options are for those who know them.
        if case .screen = target, !isMissing { return carryOut(target, arguments, title: name) }
        guard isMissing || asks && !parameters.isEmpty else { return carryOut(target, arguments, title: name) }
        show(ActionForm(title: name, parameters, values: arguments), for: target)
    }

    /// Performs an action, or opens a screen, with all values.
    ///
    /// - Parameter form: where they were entered, to be shown again if the action fails.
    mutating func carryOut(
        _ target: ActionForm.Target, _ arguments: JSONObject, title: String, from form: ActionForm? = nil
    ) {
        switch target {
        case .screen(let id): open(id, arguments)
        case .action(let id): perform(id, arguments, title: title, on: tabs.page.focused, from: form)
        }
    }

    private mutating func perform(
        _ action: String, _ arguments: JSONObject, title: String, on view: ViewID?, from form: ActionForm? = nil,
        naming files: MentionedFiles? = nil
    ) {
        let run = runs.begin(action, title, on: view, at: now, from: form)
        effects.append(
            files.map { .submit(run, action: action, arguments, $0) } ?? .perform(run, action: action, arguments))
        tick()
    }

    private mutating func end(_ id: RunID, _ result: Result<RunResult, AnyFailure>) {
        guard let run = runs[id] else { return }
        let now = now
        runs.change(id) { run in
            run.ended = now
            run.form = nil
            switch result {
            case .success(let result): run.state = .done(result)
            case .failure(let failure): run.state = .failed(failure)
            }
        }
        switch result {
        case .failure(let failure) where failure.exit == .interrupted: say("\(run.title): stopped")
        case .failure(let failure):
            say("\(run.title): \(failure.message)", isFailure: true)
            // Nothing has to be entered twice, but a secret.
            if let form = run.form, overlays.isEmpty, !hasComposerFocus {
                show(form.withoutSecrets, for: .action(run.action))
            }
        case .success(let result): tell(result, of: run)
        }
        sendNext(after: run)
    }

    /// Shows a result that is worth it: what was read, and otherwise that it is done.
    private mutating func tell(_ result: RunResult, of run: RunList.Run) {
        let isComposed = run.view.flatMap { views[$0]?.composer }?.performs(run.action) == true
        if let line = result.line, !line.isEmpty { return say("\(run.title): \(line)") }
        guard registry.actions[run.action]?.effect == .reads, !result.isEmpty, !isComposed else {
            // What it has said about it itself is seen already. The summary says how to undo it, where that is possible.
            if !isComposed, run.notices.isEmpty { say("Done: \(registry.actions[run.action]?.summary ?? run.title)") }
            return
        }
        read(.run(run.id))
    }

    /// Opens something to read above the page.
    mutating func read(_ subject: Reader.Subject) {
        overlays.append(.reader(Reader(subject: subject)))
    }

    /// Stops what runs on the page; false if nothing does.
    mutating func stopRun() -> Bool {
        let page = tabs.page
        // What streams in the other half goes on.
        let left = page.places.map { page.views[$0] } + [page.detail].compactMap { $0 }
        let here = page.isPinFocused ? [page.pinned].compactMap { $0 } : left
        guard let run = runs.running.last(where: { run in run.view.map(here.contains) ?? true }) else { return false }
        effects.append(.cancel(run.id))
        if let view = run.view, !unsent(on: view).isEmpty {
            // What waited is not sent now, and not lost either.
            let waiting = unsent(on: view)
            queues[view] = nil
            _ = change(view) { view in
                let text = view.field?.text ?? ""
                view.field?.begin(ComposedText.joined(waiting + [text]))
            }
        }
        return true
    }

    // MARK: Questions

    private mutating func ask(_ id: QuestionID, _ run: RunID, _ question: Question) {
        let asked = runs.ask(id, run, question)
        // What was said about it is in the dialog.
        if !asked.notices.isEmpty { notice = nil }
        if lastRing.map({ now - $0 >= .seconds(5) }) ?? true {
            lastRing = now
            effects.append(.ring)
        }
        // A question takes the focus only from the page that it belongs to, and never from somebody who writes.
        guard overlays.isEmpty, !hasComposerFocus || isComposerEmpty,
            let run = runs[asked.run], run.view == nil || run.view == tabs.page.focused
        else { return }
        showQuestion(asked)
    }

    private var isComposerEmpty: Bool { tabs.page.focused.flatMap { views[$0]?.field?.text.isEmpty } ?? true }

    /// Opens the oldest question; false if there is none.
    mutating func showQuestion() -> Bool {
        guard let asked = runs.questions.first else { return false }
        showQuestion(asked)
        return true
    }

    private mutating func showQuestion(_ asked: RunList.Asked) {
        let dialog = QuestionDialog(
            asked.id, asked.question, asker: runs[asked.run].map { "\($0.title) (\($0.action))" } ?? "A screen",
            notices: asked.notices, now: now)
        overlays.append(.question(dialog))
        waitForQuestion(dialog)
    }

    mutating func waitForQuestion(_ dialog: QuestionDialog) {
        if let wait = dialog.wait(at: now) { effects.append(.wait(.question(dialog.id), wait)) }
    }

    mutating func answer(_ id: QuestionID, _ answer: Answer?) {
        runs.forget(id)
        effects.append(.answer(id, answer))
    }

    // MARK: Composers

    /// Sends what was written. While an earlier message is being answered, it waits.
    mutating func send(from id: ViewID) {
        guard let view = views[id], let composer = view.composer, let field = view.field else { return }
        let composed = ComposedText(field, for: composer)
        guard !composed.isBlank else {
            if composed.isCommand { say("write the command after !") }
            return
        }
        _ = change(id) { view in
            view.field?.begin(keeping: true)
            view.pane.follow()
        }
        drafts[composer.draftKey] = nil
        if let command = command(composed.text) { return start(command, title: nil) }
        if isBusy(composer, on: id) {
            queues[id, default: []].append(composed)
            say(composed.isCommand ? "runs after this" : "sent after this")
        } else {
            submit(composed, on: id)
        }
    }

    private mutating func submit(_ composed: ComposedText, on id: ViewID) {
        perform(
            composed.target.action, composed.arguments, title: composed.title(in: registry), on: id,
            naming: composed.files)
    }

    /// Whether an earlier message is still being answered, or a command runs that the next message may be about.
    private func isBusy(_ composer: Screens.Composer, on id: ViewID) -> Bool {
        runs.running.contains { $0.view == id && composer.performs($0.action) }
    }

    private mutating func sendNext(after run: RunList.Run) {
        guard let view = run.view, let queue = queues[view], let next = queue.first,
            !isBusy(next.composer, on: view)
        else { return }
        queues[view] = Array(queue.dropFirst())
        submit(next, on: view)
    }

    /// What was written and not sent.
    var allDrafts: [String: String] {
        var all = drafts
        // The same composer may be open twice: what is written in one of them counts.
        let written = views.values.compactMap { view in
            view.composer.map { ($0.draftKey, ComposedText.joined(unsent(on: view.id) + [view.field?.text ?? ""])) }
        }
        for (key, _) in written { all[key] = nil }
        for (key, text) in written where !text.isEmpty { all[key] = text }
        return all
    }

    mutating func restoreDrafts(_ drafts: [String: String]) { self.drafts.merge(drafts) { old, _ in old } }

    /// How many messages of a screen wait.
    func waiting(on id: ViewID) -> Int { queues[id]?.count ?? 0 }

    /// `/chat.list` is an action or a screen by its id; anything else is a message.
    private func command(_ text: String) -> ActionForm.Target? {
        guard text.hasPrefix("/"), !text.contains(where: \.isWhitespace) else { return nil }
        let id = String(text.dropFirst())
        if let action = registry.actions[id], Palette.offers(action, in: registry) { return .action(id) }
        return registry.screens[id] == nil ? nil : .screen(id)
    }

    /// Ctrl-C: stops what runs, else clears what is written, else quits at the second time.
    mutating func interrupt() {
        defer { lastInterrupt = now }
        if let last = lastInterrupt, now - last < .seconds(2) { return quit() }
        if stopRun() { return say("stopping; press Ctrl-C again to quit") }
        if let id = tabs.page.focused, hasComposerFocus, views[id]?.field?.text.isEmpty == false {
            _ = change(id) { $0.field?.begin() }
        }
        say("press Ctrl-C again to quit")
    }
}

extension Screens.Composer {
    /// What a draft is kept by.
    var draftKey: String { "\(action) \(arguments)" }

    /// Whether its texts go to an action.
    func performs(_ id: String) -> Bool { id == action || id == command?.action }
}
