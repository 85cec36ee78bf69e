import Capabilities
import FileKit
import Glibc
import HostKit
import JSON
import Registry
import Settings
import TerminalForms
import TerminalKit

/// One command: the typed words and the composed workbench.
struct Command: Sendable {
    let workbench: Workbench
    let options: CommonOptions
    let words: [String]
    let streams: StandardStreams
    private let colors: TerminalColors

    init(workbench: Workbench, options: CommonOptions, words: [String], streams: StandardStreams) {
        self.workbench = workbench
        self.options = options
        self.words = words
        self.streams = streams
        colors = TerminalColors(workbench.host)
    }

    private var host: Host { workbench.host }
    private var format: OutputFormat { options.format ?? .text }
    private var errors: ErrorPrinter {
        ErrorPrinter(
            streams, format: format, level: level(of: 2), theme: { [colors] in colors.theme },
            isVerbose: options.isVerbose, program: host.name, redactor: host.redactor, width: messageWidth)
    }

    private func level(of descriptor: Int32) -> ColorLevel {
        ColorLevel.detect(
            choice: options.color, isTerminal: Terminal(fileDescriptor: descriptor).isTerminal,
            environment: host.environment)
    }

    private var width: Int? { CommandLineFeature.width(host) }
    private var messageWidth: Int? { CommandLineFeature.width(host, of: 2) }

    /// Parses the words, performs the action and prints the result.
    func run() -> ExitCode {
        defer { colors.settle() }
        let action: Action
        var parsed: ArgumentParser.Parsed
        do {
            // Invalid settings from the command line fail every command, including those that fix settings.
            let problems = host.settings.problems
            if problems.contains(where: { $0.origin == .flag }) { throw SettingsFailure(problems) }
            // So do unknown feature names in --only, whichever features remain.
            let unknown = workbench.composition.problems.filter { $0.code == .unknownFeature }
            guard unknown.isEmpty else { throw UsageError.unknownFeatures(unknown.map(\.description)) }
            let screen = options.wantsHelp ? nil : ScreenCommand(words, host.registry)
            guard let (found, rest) = try screen.map({ ($0.target, $0.rest) }) ?? meaning() else { return .done }
            try MainLoop.requireDescriptors()
            action = found
            let declared = screen?.action ?? action
            do {
                parsed = try ArgumentParser.parse(rest, for: declared, now: host.now())
                if let screen { parsed.arguments = screen.arguments(parsed.arguments) }
            } catch {
                return errors.print(error, usage: usage(of: declared))
            }
        } catch {
            return errors.print(error)
        }
        return MainLoop.run(restore: TerminalInput.restore) { [parsed] loop in await perform(action, parsed, loop) }
    }

    /// Finds the action for the words; nil if help was requested and has been printed.
    private func meaning() throws -> (Action, [String])? {
        if options.wantsVersion, words.isEmpty { return (try host.registry.actions.find("version"), []) }
        if words.isEmpty, !options.wantsHelp, let shell = try shell() { return (shell, []) }
        if words.isEmpty || options.wantsHelp {
            try streams.write(CommandLineFeature.helpText(words.filter { !$0.hasPrefix("-") }, host, width: width))
            return nil
        }
        let match: CommandTree.Match
        do {
            match = try CommandTree.match(words, among: workbench.registry.actions, isMeant: knows)
        } catch {
            throw error.explained(by: host.composition)
        }
        switch match {
        case .action(let action, let rest): return (action, rest)
        case .group(let node):
            throw UsageError.missingVerb(node.path, verbs: node.visible.compactMap(\.path.last))
        }
    }

    /// The action that opens the shell, if this program has one and a person sits at a terminal that can show it.
    private func shell() throws -> Action? {
        let isAtTerminal = Terminal(fileDescriptor: 0).isTerminal && Terminal(fileDescriptor: 1).isTerminal
        guard isAtTerminal, !TerminalAbilities.isDumb(host.environment), !options.asksNobody, options.format == nil
        else { return nil }
        return host.registry.actions["shell.open"]
    }

    /// Whether a word is a possible value of an action's first argument, such as the name of a server.
    private func knows(_ action: Action, _ word: String) -> Bool {
        guard let place = action.parameters.first(where: { $0.form == .positional }) else { return false }
        return switch place.completion {
        case .nothing: false
        case .words(let words): words.contains(word)
        case .files, .directories: Files.exists("\(host.locations.current)/\(word)")
        case .dynamic(let find): find(workbench.registry, host, [:]).contains { $0.word == word }
        case .dynamicOrFiles(let find):
            Files.exists("\(host.locations.current)/\(word)")
                || find(workbench.registry, host, [:]).contains { $0.word == word }
        }
    }

    private func perform(_ action: Action, _ parsed: ArgumentParser.Parsed, _ loop: MainLoop) async -> ExitCode {
        streams.wait(by: loop.waitForRoom)
        let terminal = Terminal(fileDescriptor: 2)
        let line =
            terminal.isTerminal && !TerminalAbilities.isDumb(host.environment) && !options.isQuiet && !action.isInstant
            ? ProgressLine(fileDescriptor: 2, level: level(of: 2), theme: colors.theme) : nil
        let output = CommandOutput(
            streams, format: format, isQuiet: options.isQuiet, progressLine: line, loop: loop, live: liveText(action),
            level: level(of: 2), colors: colors, redactor: host.redactor,
            messages: MessageLines(program: host.name) { [host] in CommandLineFeature.width(host, of: 2) })
        // A program that fills the screen has no place for them.
        let console = action.id == "shell.open" ? nil : host.registry.optional(LogConsole.self)
        console?.begin { [isForJournal = console?.isJournal == true] in output.log($0, isForJournal: isForJournal) }
        defer { console?.end() }
        do {
            let interaction = try interaction(output, terminal)
            var arguments = parsed.arguments
            for (name, secret) in try await secrets(action, parsed, interaction) { arguments.append(name, secret) }
            for parameter in action.parameters where parameter.takesPipe && arguments[parameter.name] == nil {
                // A secret read from standard input has already consumed it.
                guard !parsed.secrets.values.contains(.standardInput) else { break }
                if let text = try await PipedInput.read() { arguments.append(parameter.name, .string(text)) }
            }
            // The actions about settings report this in their own way.
            if !action.worksAlways {
                tellInert(output)
                if !options.isQuiet { AbsentSettings(host).tell(by: output) }
            }
            if !action.isHidden { tellVariables(output) }
            let value = try await withDrawing(line, output) { [arguments] in
                // Whoever started the command may have a trace that it belongs to.
                let outer = TraceContext { [host] in host.environment[$0.uppercased()] }
                return try await TraceContext.$current.withValue(outer) {
                    try await Theme.$chosen.withValue(colors.themes) {
                        try await workbench.perform(
                            action, arguments, as: .person(interaction), output: output, limit: options.limit,
                            isAgreed: options.isAgreed)
                    }
                }
            }
            return try print(value, action, output)
        } catch {
            // The error begins on its own line.
            do { try output.endLine() } catch {}
            if AnyFailure(error).exit == .interrupted { TerminalInput.discardTyping() }
            if action.isStreaming, format == .ndjson { tellFailure(error) }
            // An action's own problems with its arguments are printed like those that the parser finds.
            let isOwn = (error as? ArgumentsFailure)?.action == action.id
            return errors.print(error, usage: isOwn ? usage(of: action) : nil)
        }
    }

    /// The usage line of an action; nil for a program, which cannot use it.
    private func usage(of action: Action) -> String? {
        if format.isForPrograms { return nil }
        return "usage: \(Usage.line(action, program: host.name))   (\(host.name) help \(action.words))"
    }

    /// Draws the text of events; nil if the output is for a program or cannot be redrawn.
    private func liveText(_ action: Action) -> LiveText? {
        let level = level(of: 1)
        guard action.isStreaming, format == .text, level != .none, Terminal(fileDescriptor: 1).isTerminal else {
            return nil
        }
        return LiveText(
            streams, level: level, theme: { [colors] in colors.theme },
            links: TerminalAbilities.followsLinks(host.environment))
    }

    /// Runs the progress line and the output while the work runs, and finishes both afterwards.
    private func withDrawing<Value: Sendable>(
        _ line: ProgressLine?, _ output: CommandOutput, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if let line { group.addTask { await line.run() } }
            group.addTask { await output.run() }
            defer {
                group.cancelAll()
                line?.finish()
                output.finish()
            }
            return try await work()
        }
    }

    private func print(_ value: any OutputValue, _ action: Action, _ output: CommandOutput) throws -> ExitCode {
        // A streaming action has already printed its text, or reported that there is none. With --quiet it prints only
        // essential output.
        let hasTold = output.hasPrintedText && (format == .text || format == .markdown)
        let isSilent = format == .text && action.isStreaming && (output.isQuiet || output.hasNoticed)
        if hasTold || isSilent {
            do {
                try output.endLine()
                try streams.requireWhole()
            } catch {
                let exit = errors.print(error)
                return value.exit == .done ? exit : value.exit
            }
            return value.exit
        }
        let printer = ResultPrinter(
            format: format, level: level(of: 1), width: width, theme: { [colors] in colors.theme },
            clock: width == nil ? nil : LocalClock(now: host.now()))
        let text =
            (value as? ShownScreen).flatMap { printer.text($0.block) }
            ?? printer.text(value.json, action.result, isStream: action.isStreaming)
        if text.isEmpty, !(value is Nothing), width != nil, action.effect == .reads, !output.hasNoticed {
            output.notice("nothing to show")
        }
        try streams.write(text)
        return value.exit
    }

    /// The last line of a stream is its result, even if that is an error.
    private func tellFailure(_ error: any Error) {
        var line: JSONObject = ["type": "result", "is_error": true]
        if let report = AnyFailure(error).report["error"] { line.append("error", host.redactor.redact(report)) }
        let text = JSON.object(line).text() + "\n"
        do { try streams.write(width == nil ? text : Sanitizer.sanitize(text)) } catch {
            // The error itself is printed on standard error in any case.
        }
    }

    private func tellInert(_ output: CommandOutput) {
        guard let first = host.settings.inert.first, !options.isQuiet else { return }
        let count = host.settings.inert.count
        output.notice(
            "\(first.file) is not trusted, so \(count == 1 ? "one of its settings is" : "\(count) of its settings are") "
                + "not used; read it, then run '\(host.name) config trust'")
    }

    /// Names variables that look like a misspelt setting; others may belong to other programs.
    private func tellVariables(_ output: CommandOutput) {
        for variable in host.settings.unknownVariables {
            guard let nearest = SettingsVariables.nearest(to: variable, host.catalogue) else { continue }
            output.notice("no setting uses the variable \(variable); did you mean \(nearest)?")
        }
    }

    // MARK: Answers

    private func interaction(_ output: CommandOutput, _ terminal: Terminal) throws -> any Interaction {
        let answers = try options.answers.map(readAnswers) ?? [:]
        if options.asksNobody || !terminal.isTerminal || !Terminal.hasControllingTerminal {
            return HeadlessInteraction(answers: answers)
        }
        return TerminalInteraction(
            answers: answers, output: output, level: level(of: 2), colors: colors,
            isDumb: TerminalAbilities.isDumb(host.environment))
    }

    private func readAnswers(_ path: String) throws -> [String: JSON] {
        do {
            let value = try JSON(parsing: try Files.read(path, limit: 1 << 20), reading: .json5)
            guard let object = value.object else {
                throw UsageError.answers(
                    "\(path) must contain an object with answers by question id, not \(value.kindName)")
            }
            return Dictionary(object.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
        } catch let error as JSONError {
            throw UsageError.answers(error.located(in: path))
        } catch let error as FileError {
            throw UsageError.answers(error.message)
        }
    }

    /// Reads secrets from where the options say, or asks for required ones.
    private func secrets(
        _ action: Action, _ parsed: ArgumentParser.Parsed, _ interaction: any Interaction
    ) async throws -> [(String, JSON)] {
        var found: [(String, JSON)] = []
        for parameter in action.parameters where parameter.form == .secret {
            if let source = parsed.secrets[parameter.name] {
                let text = try source.read(host.environment)
                host.redactor.learn(Secret(text))
                found.append((parameter.name, .string(text)))
            } else if parameter.isRequired {
                // The prompt includes the arguments, to show what the secret is for: `The secret (openai)`.
                let about = action.parameters.filter { $0.form == .positional }
                    .compactMap { parsed.arguments[$0.name]?.string }.joined(separator: " ")
                let prompt = about.isEmpty ? parameter.summary : "\(parameter.summary) (\(PlainText.escape(about)))"
                let secret = try await interaction.secret(action.questionID(of: parameter), prompt)
                host.redactor.learn(secret)
                found.append((parameter.name, secret.withText { .string($0) }))
            }
        }
        return found
    }
}

/// Reports that settings of features that are not in this build are ignored. Reports each feature only once, because
/// builds share settings files and repeating it would be noise. `doctor` and `config validate` always report it.
struct AbsentSettings {
    private let host: Host

    init(_ host: Host) {
        self.host = host
    }

    private var path: String { host.locations.state + "/absent-features" }

    func tell(by output: some ActionOutput) {
        let features = Set(host.settings.ignored.map(\.feature))
        guard !features.isEmpty else { return }
        do {
            let told = Files.exists(path) ? try Files.read(path, limit: 1 << 16) : []
            let before = Set(String(decoding: told, as: UTF8.self).split(separator: "\n").map(String.init))
            let new = features.subtracting(before).sorted()
            guard !new.isEmpty else { return }
            for feature in new { output.notice(host.absence(of: feature)) }
            guard !host.locations.state.isEmpty else { return }
            try Files.makeDirectories(host.locations.state)
            let all = before.union(new).sorted().map { $0 + "\n" }.joined()
            try Files.writeAtomically(Array(all.utf8), to: path, mode: 0o600)
        } catch {
            // If this cannot be stored, the next command reports it again.
        }
    }
}
