import Capabilities
import JSON
import Registry
import Screens
import TerminalForms
import TerminalKit

/// Draws the shell as cells.
extension ShellModel {
    /// The cells of now, and where the cursor is.
    mutating func draw() -> (cells: CellBuffer, caret: CellPosition?) {
        var cells = CellBuffer(columns: size.columns, rows: size.rows)
        guard size.columns >= ShellLayout.least.columns, size.rows >= ShellLayout.least.rows else {
            let text = "\(name): make the window at least \(ShellLayout.least.columns)×\(ShellLayout.least.rows)"
            cells.write(StyledText(text).truncated(to: size.columns), row: 0, column: 0)
            return (cells, nil)
        }
        let layout = ShellLayout(size, tabs.page)
        drawTabs(layout, &cells)
        drawTitles(layout, &cells)
        var caret: CellPosition?
        for room in layout.rooms {
            let isFocused = room.view == tabs.page.focused
            if let place = draw(room, isFocused: isFocused, &cells) { caret = place }
        }
        if let divider = layout.divider {
            for row in divider.row..<divider.row + divider.rows {
                cells.write(StyledText("│", Style(.border)), row: row, column: divider.column)
            }
        }
        if let empty = layout.empty {
            let words =
                tabs.pinned == nil
                ? "No feature offers a screen here." : "Pinned; \(keys.name(of: .next)) goes to it."
            cells.write(
                StyledText(words, Style(.mutedForeground)).truncated(to: max(0, empty.columns - 2)), row: empty.row,
                column: empty.column + 1)
        }
        drawNotice(layout, &cells)
        drawHints(layout, &cells)
        if let place = drawOverlay(layout, &cells) { caret = place }
        return (cells, caret)
    }

    /// The columns of the pane of a screen.
    func columns(of id: ViewID) -> Int {
        let layout = ShellLayout(size, tabs.page)
        return max(1, layout.rooms.first { $0.view == id }?.inside.columns ?? size.columns - 2)
    }

    /// What the window is called.
    var windowTitle: String {
        let title = tabs.page.focused.flatMap { self[$0]?.title } ?? tabs.all[tabs.current].title
        return "\(title) · \(name)"
    }

    // MARK: Bars

    private func drawTabs(_ layout: ShellLayout, _ cells: inout CellBuffer) {
        for (index, label) in tabLabels.enumerated() {
            let style =
                index == tabs.current ? Style(.primaryForeground, bold: true, background: .primary) : .plain
            cells.write(StyledText(label.text, style), row: layout.tabs.row, column: label.column)
        }
        let end = tabLabels.last.map { $0.column + TextWidth.of($0.text) } ?? 0
        let name = StyledText(name, Style(.mutedForeground))
        if end + name.width + 2 < size.columns {
            cells.write(name, row: layout.tabs.row, column: size.columns - name.width - 1)
        }
    }

    /// What is written on the tabs, and where. If there is no room for all titles, only the current one has it.
    var tabLabels: [(text: String, column: Int)] {
        let full = tabs.all.enumerated().map { " \($0.offset + 1) \($0.element.title) " }
        let isRoomy = full.reduce(0) { $0 + TextWidth.of($1) } <= size.columns
        var column = 0
        return full.enumerated().map { index, text in
            let text = isRoomy || index == tabs.current ? text : " \(index + 1) "
            defer { column += TextWidth.of(text) }
            return (text, column)
        }
    }

    /// What runs and what waits for an answer.
    private var badge: StyledText {
        var badge = StyledText()
        let running = runs.running
        if let newest = running.last {
            let seconds = Int((now - newest.begun) / .seconds(1))
            let name = running.count > 1 ? "\(running.count) running" : newest.title
            badge.append("▶ \(name) \(seconds) s", Style(.ring))
        }
        if !runs.questions.isEmpty {
            let words = runs.questions.count == 1 ? "1 question" : "\(runs.questions.count) questions"
            badge.append(badge.isEmpty ? "" : "  ")
            badge.append("? \(words): \(keys.name(of: .answer))", Style(.warning, bold: true))
        }
        return badge.truncated(to: size.columns / 2)
    }

    private func drawTitles(_ layout: ShellLayout, _ cells: inout CellBuffer) {
        let page = tabs.page
        var line = StyledText(" ")
        if tabs.canGoBack {
            line.append("‹ ", Style(.mutedForeground))
            line.append(tabs.all[tabs.current].title + " › ", Style(.mutedForeground))
            line.append(page.leading.flatMap { self[$0]?.title } ?? "", Style(.heading, bold: true))
        } else if page.arrangement == .alternatives {
            for (index, id) in page.views.enumerated() {
                let isCurrent = index == page.current
                line.append(index > 0 ? "  " : "")
                line.append(
                    self[id]?.screen.title ?? "",
                    isCurrent ? Style(.heading, bold: true, underline: true) : Style(.mutedForeground))
            }
        } else {
            line.append("Tab goes from panel to panel", Style(.mutedForeground))
        }
        let badge = self.badge
        cells.write(line.truncated(to: size.columns - badge.width - 2), row: layout.titles.row, column: 0)
        cells.write(badge, row: layout.titles.row, column: max(0, size.columns - badge.width - 1))
    }

    private func drawNotice(_ layout: ShellLayout, _ cells: inout CellBuffer) {
        guard let notice else { return }
        let line = StyledText(notice.isFailure ? " ✘ " : " ", Style(.error, bold: true)) + StyledText(notice.text)
        let rows = line.onOneLine.truncated(to: size.columns)
        cells.write(rows, row: layout.notice.row, column: 0)
    }

    private func drawHints(_ layout: ShellLayout, _ cells: inout CellBuffer) {
        var line = StyledText(" ")
        for (key, title) in hints where line.width + key.count + title.count + 3 < size.columns {
            line.append(key, Style(.ring, bold: true))
            line.append(" \(title)  ", Style(.mutedForeground))
        }
        cells.write(line, row: layout.hints.row, column: 0)
    }

    /// The keys that do something now.
    private var hints: [(key: String, title: String)] {
        switch overlays.last {
        case .palette: return [("↑↓", "choose"), ("Return", "do it"), ("Esc", "close")]
        case .form(let form, _): return [("↑↓", "field")] + form.hints + [("Return", "next"), ("Esc", "close")]
        case .question: return [("Return", "answer"), ("Esc", "later"), ("Ctrl-C", "decline")]
        case .reader: return [("↑↓", "scroll"), ("Esc", "close")]
        case .search: return [("Return", "find"), ("Esc", "close")]
        case nil: break
        }
        if hasComposerFocus {
            let composer = tabs.page.focused.flatMap { self[$0]?.composer }
            let files = composer?.files == nil ? [] : [("@", "file")]
            let commands = composer?.command == nil ? [] : [("!", "command")]
            // On 80 columns there is room for all but the last two, which the help has.
            return [("Return", "send"), ("Alt-Return", "new line"), ("Esc", "leave")] + files + commands
                + [("Ctrl-C", "stop"), ("Ctrl-O", "editor"), ("Ctrl-P", "commands")]
        }
        var hints: [(String, String)] = []
        if let view = tabs.page.focused.flatMap({ self[$0] }) {
            if let primary = view.pane.primary { hints.append((keys.name(of: .open), primary.link.title)) }
            if view.composer != nil { hints.append((keys.name(of: .write), "write")) }
            for offer in view.pane.offers { if let key = offer.link.key { hints.append((key, offer.link.title)) } }
            if let isFolded = view.pane.isSelectedFolded {
                hints.append((keys.name(of: .fold), isFolded ? "open" : "fold"))
                if let kind = view.pane.selectedKind { hints.append((keys.name(of: .foldAll), kind.words)) }
            }
            if view.pane.isCut { hints.append((keys.name(of: .right), "more")) }
        }
        let page = tabs.page
        if page.isPinFocused { hints.append((keys.name(of: .pin), "unpin")) }
        if tabs.canGoBack || page.isDetailFocused || page.isPinFocused { hints.append((keys.name(of: .back), "back")) }
        if page.views.count > 1 || page.detail != nil || tabs.pinned != nil {
            hints.append((keys.name(of: .next), "next"))
        }
        var seen: Set<String> = []
        return hints.filter { seen.insert($0.0).inserted }
            + [
                (ShellCommand.search, "search"), (.commands, "commands"), (.help, "help"), (.quit, "quit"),
            ].map { (keys.name(of: $0.0), $0.1) }
    }

    // MARK: Screens

    private mutating func draw(_ room: ShellLayout.Room, isFocused: Bool, _ cells: inout CellBuffer) -> CellPosition? {
        if room.isFramed {
            let view = self[room.view]
            let title = (room.view == tabs.pinned ? view?.title : view?.screen.title) ?? ""
            cells.drawFrame(room.frame, title: title, isFocused ? Style(.ring, bold: true) : Style(.border))
        }
        let (look, hasComposer) = (look, hasComposerFocus)
        let waiting = waiting(on: room.view)
        return change(room.view) { view -> CellPosition? in
            view.layOut(columns: room.inside.columns, look)
            guard let composer = view.composer, let field = view.field, room.inside.rows > 3 else {
                let caret = view.pane.draw(on: &cells, room.inside, isFocused: isFocused)
                if view.pane.news > 0 {
                    let words = StyledText(" \(view.pane.news) new ↓ ", Style(.warning, reverse: true))
                    cells.write(
                        words, row: room.inside.row + room.inside.rows - 1,
                        column: room.inside.column + max(0, room.inside.columns - words.width))
                }
                return caret
            }
            let isWriting = isFocused && hasComposer
            let shown = field.rows(
                prompt: StyledText("› ", Style(.ring, bold: true)), columns: room.inside.columns,
                rows: max(1, room.inside.rows / 3))
            let (above, below) = room.inside.split(top: room.inside.rows - shown.rows.count - 1)
            let caret = view.pane.draw(on: &cells, above, isFocused: isFocused && !isWriting)
            var rule = StyledText(String(repeating: "─", count: below.columns), Style(isWriting ? .ring : .border))
            let notes = [
                view.pane.news > 0 ? "\(view.pane.news) new ↓" : nil, waiting > 0 ? "\(waiting) waiting" : nil,
            ].compactMap { $0 }
            if !notes.isEmpty {
                rule = StyledText("── \(notes.joined(separator: ", ")) ", Style(.warning)) + rule
            }
            cells.write(rule, row: below.row, column: below.column, in: below)
            for (index, row) in shown.rows.enumerated() {
                cells.write(row, row: below.row + 1 + index, column: below.column, in: below)
            }
            if field.text.isEmpty {
                cells.write(
                    StyledText(composer.hint, Style(.mutedForeground)), row: below.row + 1, column: below.column + 2,
                    in: below)
            }
            guard isWriting else { return caret }
            return CellPosition(row: below.row + 1 + shown.caret.row, column: below.column + shown.caret.column)
        } ?? nil
    }

    // MARK: Overlays

    private mutating func drawOverlay(_ layout: ShellLayout, _ cells: inout CellBuffer) -> CellPosition? {
        guard let overlay = overlays.popLast() else { return nil }
        var caret: CellPosition?
        switch overlay {
        case .search(let field):
            cells.fill(layout.notice)
            let shown = field.rows(prompt: "/", columns: size.columns, rows: 1)
            if let row = shown.rows.first { cells.write(row, row: layout.notice.row, column: 0) }
            caret = CellPosition(row: layout.notice.row, column: shown.caret.column)
            overlays.append(.search(field))
        case .palette(let palette):
            let inside = box(palette.title, rows: layout.body.rows - 2, layout, &cells)
            let (rows, selected, place) = palette.rows(columns: inside.columns, rows: inside.rows)
            cells.draw(rows, in: inside, selected: selected)
            caret = CellPosition(row: inside.row + place.row, column: inside.column + place.column)
            overlays.append(.palette(palette))
        case .form(let form, let target):
            let width = boxWidth - 4
            let (rows, selected, place) = form.rows(columns: width)
            let inside = box(form.title, rows: min(layout.body.rows - 2, rows.count), layout, &cells)
            // The caret is seen in any case, and the name of its field if there is room.
            let first = max(max(0, min(selected - 1, rows.count - inside.rows)), place.row - inside.rows + 1)
            cells.draw(Array(rows.dropFirst(first)), in: inside, selected: nil)
            caret = CellPosition(row: inside.row + place.row - first, column: inside.column + place.column)
            overlays.append(.form(form, for: target))
        case .question(var dialog):
            let wanted = dialog.rows(columns: boxWidth - 4, rows: layout.body.rows - 2, at: now)
            let inside = box(
                "Question", rows: min(layout.body.rows - 2, wanted.rows.count), layout, &cells,
                Style(.warning, bold: true))
            cells.draw(wanted.rows, in: inside, selected: wanted.selected)
            if let place = wanted.caret {
                caret = CellPosition(row: inside.row + place.row, column: inside.column + place.column)
            } else if let selected = wanted.selected {
                caret = CellPosition(row: inside.row + selected, column: inside.column)
            }
            overlays.append(.question(dialog))
        case .reader(var reader):
            let block = block(of: reader.subject)
            let inside = box(block.title ?? title(of: reader.subject), rows: layout.body.rows - 2, layout, &cells)
            reader.pane.show(block, columns: inside.columns, look)
            caret = reader.pane.draw(on: &cells, inside, isFocused: true)
            overlays.append(.reader(reader))
        }
        return caret
    }

    private func title(of subject: Reader.Subject) -> String {
        switch subject {
        case .help: "Keys"
        case .runs: "What was done here"
        case .run(let id): runs[id]?.title ?? ""
        case .recording(let name, _): name
        }
    }

    private func block(of subject: Reader.Subject) -> Block {
        switch subject {
        case .help: keys.help
        case .runs: runs.block(at: now)
        case .recording(_, let block): block
        case .run(let id): runs[id].map { runs.block(of: $0) } ?? Block(.text("This is no longer kept."))
        }
    }

    private var boxWidth: Int { min(size.columns - 4, 100) }

    /// A box in the middle, and the room inside.
    private func box(
        _ title: String, rows: Int, _ layout: ShellLayout, _ cells: inout CellBuffer,
        _ style: Style = Style(.ring, bold: true)
    ) -> CellArea {
        let height = min(layout.body.rows, max(1, rows) + 2)
        let frame = CellArea(
            row: layout.body.row + (layout.body.rows - height) / 2, column: (size.columns - boxWidth) / 2, rows: height,
            columns: boxWidth)
        cells.fill(frame)
        cells.drawFrame(frame, title: title, style)
        return CellArea(row: frame.row + 1, column: frame.column + 2, rows: height - 2, columns: boxWidth - 4)
    }
}

extension CellBuffer {
    /// A border with a title in it.
    mutating func drawFrame(_ frame: CellArea, title: String, _ style: Style) {
        guard frame.rows > 1, frame.columns > 3 else { return }
        let width = frame.columns - 2
        let label = StyledText(title, style).onOneLine.truncated(to: max(0, width - 4))
        var top = StyledText("┌─", style)
        if !label.isEmpty { top = top + StyledText(" ") + label + StyledText(" ") }
        top.append(String(repeating: "─", count: max(0, frame.columns - 1 - top.width)), style)
        write(top + StyledText("┐", style), row: frame.row, column: frame.column)
        for row in frame.row + 1..<frame.row + frame.rows - 1 {
            write(StyledText("│", style), row: row, column: frame.column)
            write(StyledText("│", style), row: row, column: frame.column + frame.columns - 1)
        }
        write(
            StyledText("└" + String(repeating: "─", count: width) + "┘", style), row: frame.row + frame.rows - 1,
            column: frame.column)
    }

    /// Rows below each other, one of them selected.
    mutating func draw(_ rows: [StyledText], in area: CellArea, selected: Int?) {
        for (index, line) in rows.prefix(area.rows).enumerated() {
            write(line, row: area.row + index, column: area.column, in: area)
            guard index == selected else { continue }
            let strip = CellArea(row: area.row + index, column: area.column, rows: 1, columns: area.columns)
            restyle(strip) { style in
                style.background = .accent
                style.bold = true
            }
            fillEmpty(strip, Style(background: .accent))
        }
    }
}
