import Capabilities
import Registry
import Screens
import TerminalKit

/// Completion of what is written in a composer or in a form.
extension ShellModel {
    /// Completes the word before the cursor; false if there is nothing to complete.
    mutating func complete(on id: ViewID) -> Bool {
        guard let view = self[id], let field = view.field, let composer = view.composer,
            let word = OpenWord(field.aroundCursor)
        else { return false }
        switch word.kind {
        case .id(let typed):
            let ids = (registry.screens.all.map(\.id) + registry.actions.all.filter { offers($0) }.map(\.id))
                .withoutRepeats
            let matches = ids.filter { $0.hasPrefix(typed) }.sorted().map { OpenWord.Match(text: $0, name: $0) }
            take(matches, for: word, on: id)
        case .file:
            guard let parameter = composer.files else { return false }
            add(
                .complete(
                    CompletionRequest(
                        place: .composer(id), word: word, target: .action(composer.action), parameter: parameter,
                        given: composer.arguments)))
        case .value: return false
        }
        return true
    }

    /// Takes what a word may become. Nothing is inserted into a text that has changed meanwhile, or that was left.
    mutating func take(_ result: Result<[OpenWord.Match], AnyFailure>, for request: CompletionRequest) {
        switch request.place {
        case .form: takeInForm(result, for: request)
        case .composer(let view):
            guard hasComposerFocus, tabs.page.focused == view,
                let text = self[view]?.field?.aroundCursor, request.word.isIn(text)
            else { return }
            switch result {
            case .success(let matches): take(matches, for: request.word, on: view)
            case .failure(let failure): say(failure.message, isFailure: true)
            }
        }
    }

    // MARK: Forms

    /// Opens a form, or shows it again, and asks what the selected field may be.
    mutating func show(_ form: ActionForm, for target: ActionForm.Target) {
        var form = form
        if let request = form.wordsRequest(for: target) { add(.complete(request)) }
        overlays.append(.form(form, for: target))
    }

    private mutating func takeInForm(_ result: Result<[OpenWord.Match], AnyFailure>, for request: CompletionRequest) {
        guard case .form(var form, let target)? = overlays.last, request.target == target, form.isCurrent(request)
        else { return }
        switch result {
        case .success(let matches) where request.isOnlyForWords: form.take(words: matches.map(\.text))
        case .success(let matches):
            let names = form.take(matches, for: request.word)
            if !names.isEmpty { say(Self.listed(names, columns: size.columns - 2)) }
        case .failure(let failure): return say(failure.message, isFailure: true)
        }
        overlays.removeLast()
        show(form, for: target)
    }

    // MARK: Composers

    private mutating func take(_ matches: [OpenWord.Match], for word: OpenWord, on id: ViewID) {
        if let replacement = word.replacement(matches) {
            _ = change(id) { $0.field?.replace(last: word.count, with: replacement) }
        }
        switch matches.count {
        case 0:
            let what = if case .file = word.kind { "file" } else { "action or screen" }
            say(
                "no \(what) \(word.typed.isEmpty ? "is here" : "begins with \(PlainText.escape(word.typed).quotedForMessage)")"
            )
        case 1: break
        default: say(Self.listed(matches.map(\.name), columns: size.columns - 2))
        }
    }

    private func offers(_ action: Action) -> Bool { Palette.offers(action, in: registry) }

    /// As many names as fit on a line, and how many there are besides.
    static func listed(_ names: [String], columns: Int) -> String {
        var line = ""
        for (index, name) in names.enumerated() {
            let next = line.isEmpty ? name : "\(line)  \(name)"
            let left = names.count - index - 1
            let more = left == 0 ? "" : "  and \(left) more"
            guard index == 0 || TextWidth.of(next) + TextWidth.of(more) <= columns else {
                return "\(line)  and \(left + 1) more"
            }
            line = next
        }
        return line
    }
}
