import JSON
import Registry

/// The screen that a person keeps beside all others.
///
/// It is one of the open screens, and only moved: a detail leaves its list, a page its tab, and a screen of a tab is
/// still named there. While there is one, a list opens the detail of a row only at Return, in its own half.
extension ShellModel {
    /// Pins the focused screen, in exchange for the one that was pinned before; unpins it if it is pinned.
    mutating func pin() {
        guard let view = tabs.page.focused else { return say("there is nothing to pin") }
        hasComposerFocus = false
        if tabs.page.isPinFocused {
            release(view)
            see()
            return
        }
        let before = tabs.pinned
        takeOut(view)
        tabs.pin(view)
        if let before { release(before, isFocused: false) }
        let title = self[view]?.title ?? ""
        say("\(title) stays here; \(keys.name(of: .next)) goes to it, and \(keys.name(of: .pin)) there unpins it")
        see()
    }

    /// Takes a screen out of the page that is seen, without closing it.
    private mutating func takeOut(_ view: ViewID) {
        if tabs.page.detail == view {
            tabs.page.detail = nil
            tabs.page.isDetailFocused = false
            return
        }
        // The detail is about the rows of the screen that goes.
        if let detail = tabs.page.detail {
            tabs.page.detail = nil
            tabs.page.isDetailFocused = false
            close(detail)
        }
        // A screen of a tab stays in its list.
        if tabs.canGoBack { _ = tabs.pop() }
    }

    /// Gives a screen that is pinned no longer a page, unless it belongs to a tab.
    private mutating func release(_ view: ViewID, isFocused: Bool = true) {
        if isFocused { tabs.pin(nil) }
        let home = tabs.all.indices.first { tabs.all[$0].pages[0].views.contains(view) }
        if let home {
            if home != tabs.current { say("\(self[view]?.title ?? "") is on \(tabs.all[home].title) again") }
            if isFocused, !tabs.canGoBack, let index = tabs.page.views.firstIndex(of: view) {
                tabs.page.current = index
            }
        } else {
            tabs.push(ShellTabs.Page(views: [view]))
        }
    }

    /// Shows another screen of the page instead of one that is only beside it now.
    mutating func passByPinned() {
        let page = tabs.page
        guard page.leading == nil, let next = page.places.first(where: { $0 > page.current }) ?? page.places.last else {
            return
        }
        tabs.page.current = next
    }

    /// Gives the focus to the pinned screen if it is that one; false if it is another.
    mutating func goToPinned(_ screen: String, _ arguments: JSONObject) -> Bool {
        guard let pinned = tabs.pinned.flatMap({ self[$0] }), pinned.screen.id == screen, pinned.arguments == arguments
        else { return false }
        tabs.page.isPinFocused = true
        hasComposerFocus = pinned.field != nil
        see()
        return true
    }

    /// Gives the focus to the next screen of the page, and to the pinned one after the last.
    mutating func turnWithPin(_ step: Int) {
        let page = tabs.page
        let places = page.places
        let number =
            page.isPinFocused ? places.count : places.firstIndex(of: page.current) ?? (step > 0 ? -1 : 0)
        let next = (number + step + places.count + 1) % (places.count + 1)
        tabs.page.isPinFocused = next == places.count
        if next < places.count {
            // From one screen of the page to another; coming back from the pinned one, its detail still has the focus.
            if places[next] != page.current { tabs.page.isDetailFocused = false }
            tabs.page.current = places[next]
        }
        see()
    }

    /// Pins the screen that the last shell had pinned, if it still exists.
    mutating func restorePin(_ id: String, _ arguments: JSONObject) {
        guard let screen = registry.screens[id] else { return }
        if arguments.isEmpty, let (tab, index) = place(of: screen) {
            tabs.pin(tabs.all[tab].pages[0].views[index])
        } else {
            tabs.pin(make(screen, arguments))
        }
    }
}
