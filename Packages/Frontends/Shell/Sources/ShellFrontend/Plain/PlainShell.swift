import Capabilities
import JSON
import Registry
import Screens
import TerminalForms
import TerminalKit

/// The shell as lines, for screen readers: it prints a screen, asks what to do, and moves no cursor.
struct PlainShell: Sendable {
    let context: ActionContext

    static let printed = EventKind<Void>("screen", "A part of a screen, as text", [])

    /// How many rows of a screen are printed at once.
    private static let mostRows = 40

    /// A reader hears lines of any length, and nothing of what is cut off.
    private static let width = 400

    /// What is shown.
    private struct Place: Sendable {
        let screen: Screen
        let arguments: JSONObject
    }

    private static let help = """
        a number      what can be done with that row
        /tabs         the screens, by number
        /more         the next rows
        /do WORDS     an action or a screen by some letters of its name
        /again        show the screen again
        /back         the screen before
        /quit         quit, like Ctrl-D
        Other text is sent, if the screen takes a text, and otherwise searched for in the commands.
        Where the screen does so, @FILE in a text sends that file too, and !COMMAND runs a command.
        """

    /// Runs until the person quits.
    func run(
        showing first: (id: String, arguments: JSONObject)?, replaying recording: (name: String, block: Block)? = nil
    ) async throws {
        if let recording {
            let form = TextForm(level: .none, width: Self.width)
            return try await say(form.text(form.lines(recording.block)))
        }
        var places: [Place] = []
        if let first {
            places = [Place(screen: try context.registry.screens.find(first.id), arguments: first.arguments)]
        }
        if places.isEmpty, let place = try await chooseTab() { places = [place] }
        var pane = Pane()
        var start = 0
        var needsShowing = true
        while true {
            if needsShowing, let place = places.last {
                needsShowing = false
                do {
                    pane = try await show(place)
                    start = 0
                    try await print(pane, of: place, from: &start)
                } catch let error where !(error is CancellationError) {
                    // The screen before is still there.
                    try await say("\(place.screen.title): \(AnyFailure(error).message)")
                    places.removeLast()
                    pane = Pane()
                }
            }
            guard let line = try await ask("What next? /help lists the commands") else { return }
            let words = line.trimmed
            do {
                switch words {
                case "/quit": return
                case "/help": try await say(Self.help)
                case "", "/again": needsShowing = true
                case "/more": if let place = places.last { try await print(pane, of: place, from: &start) }
                case "/back":
                    if places.count > 1 { places.removeLast() }
                    needsShowing = true
                case "/tabs":
                    if let place = try await chooseTab() { places = [place] }
                    needsShowing = true
                default:
                    let offer: (target: ActionForm.Target, arguments: JSONObject)?
                    if let number = Int(words) {
                        offer = try await choose(number, &pane)
                    } else if !words.hasPrefix("/"), let composer = pane.composer?.composer {
                        let composed = ComposedText(line, seen: line, for: composer)
                        let arguments = composed.arguments
                        let files = composed.files?.added(to: arguments, in: context, telling: context.notice)
                        offer = (.action(composed.target.action), files ?? arguments)
                    } else {
                        let isDo = words.hasPrefix("/do ")
                        offer = try await find(isDo ? String(words.dropFirst(4)) : words)
                    }
                    guard let offer else { continue }
                    if let place = try await carryOut(offer.target, offer.arguments) {
                        places.append(place)
                        needsShowing = true
                    }
                }
            } catch let error where !(error is CancellationError) {
                try await say(AnyFailure(error).message)
            }
        }
    }

    // MARK: Printing

    private func say(_ text: String) async throws {
        try await context.emit(Self.printed.event((), text: text.hasSuffix("\n") ? text : text + "\n"))
    }

    private func show(_ place: Place) async throws -> Pane {
        let look = PaneLook(level: .none, now: context.host.now())
        let block = try await context.session.open(
            place.screen.id, place.arguments, as: context.caller, output: SilentOutput()
        ) { view in try await view.block() }
        var pane = Pane()
        pane.show(block, columns: Self.width, look)
        return pane
    }

    /// Prints the next rows, those that can be chosen with their numbers.
    private func print(_ pane: Pane, of place: Place, from start: inout Int) async throws {
        var pane = pane
        var lines: [String] = start == 0 ? [place.screen.title] : []
        var number = 0
        let items = pane.allItems()
        for (index, item) in items.enumerated() {
            if item.place != nil { number += 1 }
            guard index >= start else { continue }
            if index >= start + Self.mostRows {
                lines.append("\(items.count - index) more rows: /more")
                start = index
                return try await say(lines.joined(separator: "\n"))
            }
            for (row, text) in item.rows.map(\.plainText.spoken).enumerated() {
                lines.append(row == 0 && item.place != nil ? "\(number): \(text)" : text)
            }
        }
        start = items.count
        if let composer = pane.composer?.composer { lines.append(composer.hint) }
        try await say(lines.joined(separator: "\n"))
    }

    // MARK: Asking

    private func ask(_ prompt: String) async throws -> String? {
        do {
            return try await context.interaction.text("shell.command", prompt)
        } catch InteractionError.unanswered {
            // Ctrl-D.
            return nil
        }
    }

    private func pick<Value>(_ prompt: String, _ options: [(title: String, value: Value)]) async throws -> Value? {
        let index = try await context.interaction.choice(
            "shell.choice", prompt, among: options.map(\.title) + ["Nothing"])
        return index < options.count ? options[index].value : nil
    }

    private func chooseTab() async throws -> Place? {
        let screens = context.registry.screens.all.filter { $0.placement != .detail }
        let options = screens.map { screen in
            ("\(screen.title) (\(screen.placement.words))", Place(screen: screen, arguments: [:]))
        }
        return try await pick("Which screen?", options)
    }

    private func choose(_ number: Int, _ pane: inout Pane) async throws -> (ActionForm.Target, JSONObject)? {
        let places = pane.allItems().compactMap(\.place)
        guard places.indices.contains(number - 1) else {
            try await say("there is no row \(number)")
            return nil
        }
        pane.select(places[number - 1])
        var offers = pane.offers.map { ($0.link.title, ($0.link.formTarget, $0.arguments)) }
        if let form = pane.form {
            offers.insert((form.submit, (.action(form.action), fixed(form))), at: 0)
        } else if let primary = pane.primary, !pane.offers.contains(where: { $0.link == primary.link }) {
            offers.insert((primary.link.title, (primary.link.formTarget, primary.arguments)), at: 0)
        }
        return try await pick("What?", offers)
    }

    /// The values of a form without those that have to be entered, which are asked for.
    private func fixed(_ form: Form) -> JSONObject {
        var values = form.values
        for parameter in context.registry.actions[form.action]?.parameters ?? [] {
            if parameter.isRequired, form.parameters?.contains(parameter.name) ?? true { values[parameter.name] = nil }
        }
        return values
    }

    private func find(_ words: String) async throws -> (ActionForm.Target, JSONObject)? {
        var palette = Palette.all(context.registry)
        for scalar in words.unicodeScalars { _ = palette.receive(.key(KeyPress(.character(scalar)))) }
        guard !palette.matches.isEmpty else {
            try await say("nothing fits '\(words)'; /help lists the commands")
            return nil
        }
        let entries = palette.matches.prefix(9).map { palette.entries[$0] }
        return try await pick("Which one?", entries.map { ("\($0.title) (\($0.note))", ($0.target, JSONObject())) })
    }

    // MARK: Doing

    /// Performs an action after asking for what it still needs, or says which screen to show.
    private func carryOut(_ target: ActionForm.Target, _ given: JSONObject) async throws -> Place? {
        switch target {
        case .screen(let id):
            let screen = try context.registry.screens.find(id)
            return Place(screen: screen, arguments: try await complete(given, screen.parameters, id))
        case .action(let id):
            let action = try context.registry.actions.find(id)
            let arguments = try await complete(given, action.parameters, id)
            let output = PlainOutput(context: context)
            let value: any OutputValue
            do {
                value = try await context.session.perform(id, arguments, as: context.caller, output: output)
            } catch {
                // What it has said until then is worth hearing.
                try await output.finish()
                throw error
            }
            try await output.finish()
            if output.hasText { return nil }
            let form = TextForm(level: .none, width: 80, clock: LocalClock(now: context.host.now()))
            let text = form.text(value.json, action.result)
            try await say(text.isEmpty ? "\(action.summary): done" : text)
            return nil
        }
    }

    private func complete(
        _ given: JSONObject, _ parameters: [ParameterDeclaration], _ id: String
    ) async throws -> JSONObject {
        var arguments = given
        for parameter in parameters where parameter.isRequired && arguments[parameter.name] == nil {
            let question = "\(id).\(parameter.name)"
            if parameter.isSecret {
                let secret = try await context.interaction.secret(question, parameter.summary)
                context.host.redactor.learn(secret)
                arguments[parameter.name] = secret.withText { .string($0) }
            } else {
                let text = try await context.interaction.text(question, parameter.summary)
                arguments[parameter.name] = try parameter.schema.json(fromWord: text)
            }
        }
        return arguments
    }
}

extension Link {
    /// What a form for it is made for.
    var formTarget: ActionForm.Target {
        switch target {
        case .action(let id): .action(id)
        case .screen(let id): .screen(id)
        }
    }
}

extension String {
    /// The text with commas where columns are apart.
    fileprivate var spoken: String {
        var text = ""
        var spaces = 0
        for character in self {
            if character == " " {
                spaces += 1
                continue
            }
            if !text.isEmpty, spaces > 0 { text += spaces > 1 ? ", " : " " }
            spaces = 0
            text.append(character)
        }
        return text
    }

    fileprivate var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
