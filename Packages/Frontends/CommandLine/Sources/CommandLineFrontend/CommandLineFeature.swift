import Capabilities
import JSON
import Registry
import Screens
import Settings
import TerminalKit

/// The feature with the actions that only a command line needs: help, completion and reference documents.
struct CommandLineFeature: Feature {
    static let manifest = Manifest(
        id: "commands", summary: "Help, completion and reference for the commands", version: "0.1.0",
        namespaces: ["help", "completion", "docs"],
        groups: [
            "docs": "Print documentation of the commands"
        ])

    /// What the program is for, in one line.
    static let programSummary = "a modular workbench for AI servers"

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.uses(Library("libutf8proc") { TextWidth.libraryVersion })
        registry.add(Self.help)
        registry.add(Self.completion)
        registry.add(Self.words)
        for action in Self.documents { registry.add(action) }
    }

    private static let help = Action(
        "help", "Show help for a command or a setting", .reads,
        .argument("command", "A command, or 'settings' with or without the key of one setting", as: [String].self)
    ) { context, words in
        if words.first == settingsTopic {
            return try settingsText(words.dropFirst(), context.host, width: width(context.host))
        }
        return try helpText(words, context.host, width: width(context.host), isExact: true)
    }
    .always().instant()
    .example("martlet help run install", "One command")
    .example("martlet help settings chat.model", "One setting: its value, default and variable")

    /// The word after `help` that means settings and not a command.
    static let settingsTopic = "settings"

    private static func settingsText(_ words: ArraySlice<String>, _ host: Host, width: Int?) throws -> String {
        let page = HelpPage(program: host.name, width: width)
        let catalogue = host.catalogue
        guard let key = words.first else { return page.settings(catalogue.declarations, below: []) }
        if let more = words.dropFirst().first {
            throw ArgumentsFailure(
                action: "help", problems: [ValueError("unexpected argument \(more.quotedForMessage)")])
        }
        let path = try catalogue.path(of: key, mayBeGroup: true)
        guard let declaration = catalogue.declaration(of: path) else {
            return page.settings(catalogue.declarations.filter { $0.key.starts(with: path) }, below: path)
        }
        let entry = host.settings[path]
        let value = entry?.value ?? declaration.defaultValue ?? .null
        return page.setting(
            path, declaration, value: value.isNull ? "not set" : PlainText.escape(value.string ?? value.text()),
            origin: (entry?.origin ?? .builtIn).words, untrusted: host.settings.inert.first { $0.key == path }?.file)
    }

    /// The width of the terminal behind standard output or another descriptor; nil if it is not a terminal.
    static func width(_ host: Host, of descriptor: Int32 = 1) -> Int? {
        let terminal = Terminal(fileDescriptor: descriptor)
        return terminal.isTerminal ? terminal.size(environment: host.environment).columns : nil
    }

    /// The help page of a command, wrapped to a width if there is one.
    ///
    /// - Parameter isExact: whether all words must belong to the command, so that none may be an argument.
    static func helpText(_ words: [String], _ host: Host, width: Int?, isExact: Bool = false) throws -> String {
        let tree = CommandTree(host.registry.actions)
        let page = HelpPage(program: host.name, width: width)
        var summaries: [String: String] = [:]
        for manifest in host.composition.features.map(\.manifest) {
            for name in manifest.namespaces { summaries[name] = manifest.summary }
            summaries.merge(manifest.groups) { $1 }
        }
        if words.isEmpty {
            return page.root(
                tree, summary: programSummary, summaries: summaries, options: SettingOption.everyOption(host))
        }
        if let node = tree.node(at: words), !node.children.isEmpty, node.action == nil {
            return page.group(node, summaries: summaries)
        }
        if let screen = ScreenCommand(words, host.registry) { return page.action(screen.action) }
        let match: CommandTree.Match
        do { match = try tree.match(words) } catch { throw error.explained(by: host.composition) }
        switch match {
        case .action(let action, let rest):
            if isExact, let word = rest.first {
                let (node, _) = tree.descend(words)
                let suggestions = node.suggestions(for: word)
                guard suggestions.isEmpty else { throw UsageError.slip(node.path + [word], suggestions: suggestions) }
                throw UsageError.unknownCommand(node.path + [word], suggestion: nil)
            }
            return page.action(action)
        case .group(let node): return page.group(node, summaries: summaries)
        }
    }

    private static let completion = Action(
        "completion", "Print a completion script for your shell", .reads,
        .argument("shell", "Your shell", as: CompletionShell.self)
    ) { context, shell in
        ShellScripts.script(for: shell, program: context.host.name)
    }
    .always().instant()
    .example("source <(martlet completion bash)", "In ~/.bashrc")

    private static let words = Action(
        "completion.words", "Print the possible completions of a command line", .reads,
        .argument("words", "The words so far, including the one being typed", as: [String].self)
    ) { context, words in
        let completer = Completer(
            tree: CommandTree(context.registry.actions), registry: context.registry, host: context.host,
            isForPerson: context.caller.isPerson)
        return completer.candidates(words).map { $0.line(context.host.redactor) }.joined(separator: "\n")
    }
    .always().instant().hidden()

    private static let documents: [Action] = [
        Action("docs.markdown", "Print the reference as Markdown", .reads) { MarkdownReference.text($0.host) }
            .asDefault().always().instant(),
        Action("docs.man", "Print the manual page", .reads) { ManPage.text($0.host, summary: programSummary) }
            .always().instant()
            .example("martlet docs man > martlet.1", "Then: man ./martlet.1"),
        Action("docs.schema", "Print every action with the JSON Schemas of its input, result and events", .reads) {
            context in
            JSON.array(context.registry.actions.all.filter { !$0.isHidden }.map(\.document))
        }
        .always().instant(),
        Action("docs.screens", "Print the JSON Schema of what screens show", .reads) { _ in
            JSON.object([
                "$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "#/$defs/block",
                "$defs": ["block": .object(Block.jsonSchema)],
            ])
        }
        .always().instant(),
    ]
}

extension Action {
    /// The declaration in the form that programs read.
    fileprivate var document: JSON {
        var object: JSONObject = ["id": .string(id), "summary": .string(summary), "effect": effect.json]
        object.append("sends", .bool(sends))
        if let destroyingFlag { object.append("destroys_with", .string(destroyingFlag)) }
        if let alias { object.append("alias", .string(alias)) }
        object.append("streams", .bool(isStreaming))
        object.append("input", .object(inputSchema))
        object.append("result", .object(result.jsonSchema))
        if let events { object.append("events", .array(events.map { .object($0.jsonSchema) })) }
        return .object(object)
    }
}
