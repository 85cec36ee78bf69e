import Capabilities
import FileKit
import JSON
import Registry

/// What a shell was showing, so that the next one begins there. The last one that ends writes it.
struct ShellState: Sendable, Equatable {
    /// A screen that was opened on a tab.
    struct Page: Sendable, Equatable {
        let screen: String
        let arguments: JSONObject
    }

    /// The title of the tab that was seen.
    var tab: String?
    /// The pages by the title of their tab, the one that was seen last.
    var pages: [String: [Page]] = [:]
    /// The screen that stayed beside all pages.
    var pinned: Page?
    /// What was written and not sent, by the composer.
    var drafts: [String: String] = [:]

    /// Nobody has more open, and a damaged file must not open more.
    private static let mostPages = 20
    private static let mostBytes = 4 << 20
    /// A draft that is kept, and all of them. A paste of that size is in a file anyway.
    private static let (mostOfDraft, mostOfDrafts) = (256 << 10, 2 << 20)

    init() {}

    /// The state in a file; an empty one if there is no file.
    ///
    /// - Throws: why it cannot be read. It is written again when the shell ends.
    init(file path: String) throws {
        guard Files.exists(path) else { return }
        guard let json = try JSON(parsing: try Files.read(path, limit: Self.mostBytes)).object else { return }
        tab = json["tab"]?.string
        for (title, list) in json["pages"]?.object ?? [:] {
            pages[title] = (list.array ?? []).prefix(Self.mostPages).compactMap(Page.init)
        }
        pinned = json["pinned"].flatMap(Page.init)
        for (key, text) in json["drafts"]?.object ?? [:] { drafts[key] = text.string }
    }

    private var json: JSON {
        var (kept, size) = (JSONObject(), 0)
        for (key, text) in drafts.sorted(by: { ($0.value.utf8.count, $0.key) < ($1.value.utf8.count, $1.key) }) {
            size += key.utf8.count + text.utf8.count
            guard text.utf8.count <= Self.mostOfDraft, size <= Self.mostOfDrafts else { break }
            kept.append(key, .string(text))
        }
        var object: JSONObject = ["drafts": .object(kept)]
        if let tab { object["tab"] = .string(tab) }
        object["pages"] = .object(
            JSONObject(pages.sorted { $0.key < $1.key }.map { title, pages in (title, .array(pages.map(\.json))) }))
        if let pinned { object["pinned"] = pinned.json }
        return .object(object)
    }

    /// Writes it for this user only. Secrets that are known are left out.
    func write(to name: String, in folder: String, _ redactor: Redactor) throws(FileError) {
        try Files.makeDirectories(folder)
        try Files.writeAtomically(Array(redactor.kept(json).text().utf8), to: "\(folder)/\(name)", mode: 0o600)
    }
}

extension ShellState.Page {
    /// Nil if the value is none.
    fileprivate init?(_ json: JSON) {
        guard let screen = json["screen"]?.string else { return nil }
        self.init(screen: screen, arguments: json["arguments"]?.object ?? [:])
    }

    fileprivate var json: JSON { ["screen": .string(screen), "arguments": .object(arguments)] }

    fileprivate init(_ view: ShownScreen) { self.init(screen: view.screen.id, arguments: view.arguments) }
}

extension ShellModel {
    /// What is to be restored the next time.
    var state: ShellState {
        var state = ShellState()
        state.tab = tabs.all[tabs.current].title
        for tab in tabs.all {
            let pages = tab.pages.dropFirst().compactMap { page in
                page.leading.flatMap { self[$0] }.map { ShellState.Page($0) }
            }
            if !pages.isEmpty { state.pages[tab.title] = pages }
        }
        state.pinned = tabs.pinned.flatMap { self[$0] }.map { ShellState.Page($0) }
        state.drafts = allDrafts
        return state
    }

    /// Shows what was shown the last time, as far as it still exists.
    mutating func restore(_ state: ShellState) {
        for (title, pages) in state.pages {
            guard let index = tabs.index(titled: title) else { continue }
            tabs.current = index
            for page in pages where registry.screens[page.screen] != nil {
                open(page.screen, page.arguments, onTop: true)
            }
        }
        restoreDrafts(state.drafts)
        if let pinned = state.pinned { restorePin(pinned.screen, pinned.arguments) }
        tabs.current = state.tab.flatMap(tabs.index) ?? 0
        see()
    }
}
