import Capabilities
import JSON
import Registry
import Screens
import TerminalForms
import TerminalKit

/// Shows an open screen by the events of an action.
struct ScreenShower: Sendable {
    let context: ActionContext

    /// How many rows of a long list are shown.
    private static let mostRows = 1_000

    private static let whole = EventKind<(state: String, block: Block?, error: JSON?)>(
        "screen", "The whole screen: at first, and when more than a block of it has changed",
        [
            Field("state", "loading, ready or failed") { $0.state },
            Field(Schema.Property("block", "What it shows", .optional(.any))) { $0.block?.json ?? .null },
            Field(Schema.Property("error", "Why it failed", .optional(.any))) { $0.error ?? .null },
        ])
    private static let change = EventKind<BlockChange>(
        "change", "A block of the screen has changed",
        [
            Field("path", "The ids from the outermost block inwards, without its own; the changed one is the last") {
                $0.path
            },
            Field(Schema.Property("block", "The new block", .any)) { $0.block.json },
        ])
    private static let lines = EventKind<FeedLines>(
        "lines", "A log or a transcript in the screen has grown",
        [
            Field("path", "The ids from the outermost block inwards, without its own; empty for the whole screen") {
                $0.path
            },
            Field("from", "The position of the first of these lines; a smaller one than expected replaces") { $0.from },
            Field(Schema.Property("lines", "The new lines", .array(.any))) { JSON.array($0.lines) },
        ])

    static let events = [
        EventDeclaration(ActionEvent.clear.type, "The screen is shown again from the top, for a terminal"),
        whole.declaration, change.declaration, lines.declaration,
    ]

    /// When to try again after a failure, because nobody is there to ask for it.
    private static let retryPause = Duration.seconds(5)

    /// The first value, with the rows of long lists.
    func first(of view: OpenScreen) async throws -> Block {
        var told: Set<String> = []
        return try await filled(try await view.block(), &told)
    }

    /// Sends events for each change until the action is cancelled. A person sees the whole screen again, and on a pipe
    /// only the new lines where nothing else has changed.
    func follow(_ view: OpenScreen) async throws {
        var shown: Block?
        var failed: JSON?
        var feeds = FollowedFeeds()
        var told: Set<String> = []
        var states = view.states.makeAsyncIterator()
        while true {
            let state: ScreenState
            (states, state) = try await next(states, of: view, isFailed: failed != nil)
            switch state {
            case .loading: try await context.emit(Self.whole.event(("loading", nil, nil)))
            case .failed(let failure, let last):
                (shown, feeds) = (nil, FollowedFeeds())
                let redactor = context.host.redactor
                let error = redactor.redact(AnyFailure(failure).report)["error"]
                // It is tried again and again.
                guard failed != error else { continue }
                failed = error
                try await context.emit(
                    Self.whole.event(("failed", last, error), text: redactor.redact(failure.message) + "\n"))
            case .ready(let block):
                failed = nil
                let block = try await filled(block, &told)
                let grown = feeds.grown(in: block, form())
                try await send(block, after: shown, grown, ends: feeds.ends)
                shown = block
            }
        }
    }

    /// Sends what has changed since another block was shown.
    private func send(
        _ block: Block, after shown: Block?, _ grown: [FeedLines], ends: [ObjectIdentifier: Int]
    ) async throws {
        let changes = shown.map { block.changes(since: $0) }
        let isWhole = changes?.contains(where: \.path.isEmpty) ?? true
        var events = isWhole ? [Self.whole.event(("ready", block, nil))] : changes?.map { Self.change.event($0) } ?? []
        let isPrinted = !events.isEmpty || context.isWatched
        // A block that is sent has its lines already.
        for lines in grown where !isWhole && changes?.contains(where: { lines.path.starts(with: $0.path) }) != true {
            events.append(Self.lines.event(lines, text: isPrinted ? nil : lines.text))
        }
        guard let last = events.popLast() else { return }
        let text = isPrinted ? text(of: block, ends: context.isWatched ? [:] : ends) : last.text
        events.append(ActionEvent(last.type, last.fields, text: text))
        try await context.emit(context.isWatched ? [.clear] + events : events)
    }

    /// The next state, for which a failed screen is tried again.
    private func next(
        _ states: OpenScreen.States.Iterator, of view: OpenScreen, isFailed: Bool
    ) async throws -> (OpenScreen.States.Iterator, ScreenState) {
        while true {
            let found = try await withTimeLimit(isFailed ? Self.retryPause : nil, on: context.host.clock) {
                var states = states
                let state = try await states.next()
                return (states, state)
            }
            if case (let states, let state?)? = found { return (states, state) }
            try Task.checkCancellation()
            view.refresh()
        }
    }

    /// Texts of events have no colours.
    private func form() -> TextForm {
        TextForm(
            level: .none, width: CommandLineFeature.width(context.host),
            clock: context.isWatched ? LocalClock(now: context.host.now()) : nil)
    }

    /// The screen for a person.
    ///
    /// - Parameter ends: up to where feeds are printed.
    private func text(of block: Block, ends: [ObjectIdentifier: Int]) -> String {
        var form = form()
        form.feedEnds = ends
        return form.text(form.lines(block))
    }

    /// The block with the first rows of each list that has a source.
    ///
    /// - Parameter told: the notices so far, each of which is given once.
    /// - Throws: `BlockTooLarge` if all of them together are too many.
    private func filled(_ block: Block, _ told: inout Set<String>) async throws -> Block {
        let filled = try await rows(in: block, &told)
        if let excess = filled.excess { throw excess }
        return filled
    }

    private func rows(in block: Block, _ told: inout Set<String>) async throws -> Block {
        switch block.content {
        case .table(let table):
            guard case .source(let source) = table.rows else { return block }
            let page = try await source.rows(RowSource.Request(count: Self.mostRows))
            let whole = Screens.Table(
                table.columns, .all(page.rows), id: table.rowID, links: table.rowLinks, detail: table.detail,
                empty: table.empty)
            let (shown, omitted) = whole.fitting()
            if page.hasNext || omitted > 0 {
                let notice = "only the first \(page.rows.count - omitted) rows of \(block.title ?? block.id) are shown"
                if told.insert(notice).inserted { context.notice(notice) }
            }
            return block.with(.table(shown))
        case .stack(let stack):
            var blocks: [Block] = []
            for inner in stack.blocks { blocks.append(try await rows(in: inner, &told)) }
            return block.with(.stack(Stack(blocks, stack.axis)))
        case .tabs(let tabs):
            var blocks: [Block] = []
            for inner in tabs.blocks { blocks.append(try await rows(in: inner, &told)) }
            return block.with(.tabs(Tabs(blocks)))
        case .split(let split):
            let (first, second) = (try await rows(in: split.first, &told), try await rows(in: split.second, &told))
            return block.with(.split(Split(first, second, split.axis, fraction: split.fraction)))
        case .collapsible(let collapsible):
            return block.with(
                .collapsible(Collapsible(try await rows(in: collapsible.block, &told), isOpen: collapsible.isOpen)))
        default: return block
        }
    }
}

extension Block {
    fileprivate func with(_ content: Content) -> Block { Block(content, id: id, title: title, links: links) }
}
