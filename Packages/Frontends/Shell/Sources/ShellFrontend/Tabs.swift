import Registry

/// The tabs of the shell, each with the pages that were opened on it.
struct ShellTabs: Sendable {
    /// One or more screens that are seen together or one at a time.
    struct Page: Sendable {
        /// How the screens share the room.
        enum Arrangement: Sendable {
            /// One at a time, chosen by its title.
            case alternatives
            /// All of them, as panels.
            case panels
        }

        var views: [ViewID]
        var arrangement = Arrangement.alternatives
        /// The screen that has the focus.
        var current = 0
        /// The screen beside it that shows more of the selected row.
        var detail: ViewID?
        var isDetailFocused = false
        /// The screen that stays beside all pages, if there is one; also a screen of this page, which then is only there.
        fileprivate(set) var pinned: ViewID?
        var isPinFocused = false

        init(views: [ViewID], arrangement: Arrangement = .alternatives) {
            (self.views, self.arrangement) = (views, arrangement)
        }

        var focused: ViewID? {
            if isPinFocused, let pinned { return pinned }
            if isDetailFocused, let detail { return detail }
            return leading
        }

        /// The screen that leads: the one whose rows have details.
        var leading: ViewID? {
            views.indices.contains(current) && views[current] != pinned ? views[current] : nil
        }

        /// What is seen of the page in one room: the detail if it has the focus, or else the screen that leads.
        var front: ViewID? { isDetailFocused ? detail ?? leading : leading }

        /// The numbers of the screens that are seen on the page itself.
        var places: [Int] { views.indices.filter { views[$0] != pinned } }
    }

    struct Tab: Sendable {
        let title: String
        /// The pages, the one that is seen last.
        var pages: [Page]
    }

    private(set) var all: [Tab] = []
    var current = 0
    /// The screen that stays beside all pages.
    private(set) var pinned: ViewID?
    private var isPinFocused = false

    /// The order of the tabs that most people look for first.
    private static let first = ["Home", "Projects", "Sessions", "Monitor"]

    /// The tabs of a composition, with the screens to show on them.
    init(_ screens: [Screen], number: (Screen) -> ViewID) {
        var titles: [String] = []
        var views: [String: [ViewID]] = [:]
        for screen in screens {
            let title: String
            switch screen.placement {
            case .home: title = "Home"
            case .tab(let name): title = name
            case .detail: continue
            }
            if views[title] == nil { titles.append(title) }
            views[title, default: []].append(number(screen))
        }
        let known = Self.first.filter { titles.contains($0) }
        // Settings are looked for at the end.
        let others = titles.filter { !Self.first.contains($0) && $0 != "Settings" }
        for title in known + others + titles.filter({ $0 == "Settings" }) {
            let arrangement: Page.Arrangement = title == "Home" ? .panels : .alternatives
            all.append(Tab(title: title, pages: [Page(views: views[title] ?? [], arrangement: arrangement)]))
        }
        if all.isEmpty { all = [Tab(title: "Home", pages: [Page(views: [])])] }
    }

    /// The page that is seen, with the screen that is pinned beside it.
    var page: Page {
        get {
            var page = all[current].pages[all[current].pages.count - 1]
            (page.pinned, page.isPinFocused) = (pinned, isPinFocused)
            return page
        }
        set {
            isPinFocused = newValue.isPinFocused && pinned != nil
            all[current].pages[all[current].pages.count - 1] = newValue
        }
    }

    /// Lets a screen stay beside all pages. The focus is on the page.
    mutating func pin(_ view: ViewID?) { (pinned, isPinFocused) = (view, false) }

    /// Whether there is a page below the one that is seen.
    var canGoBack: Bool { all[current].pages.count > 1 }

    mutating func push(_ page: Page) { all[current].pages.append(page) }

    /// Goes back to the page below, and returns the one that was left.
    mutating func pop() -> Page? { canGoBack ? all[current].pages.removeLast() : nil }

    /// The first tab with a title.
    func index(titled title: String) -> Int? { all.firstIndex { $0.title == title } }
}
