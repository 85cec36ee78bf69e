import Capabilities
import Glibc
public import JSON
public import Registry
import Screens
import Settings

/// The rules for every feature. Each package checks its own feature:
///
/// ```swift
/// @Test("keeps the rules of every feature") func conforms() async {
///     await #expect(processExitsWith: .success) {
///         let violations = try await FeatureConformance.violations(of: WeatherFeature.self)
///         #expect(violations.isEmpty)
///     }
/// }
/// ```
///
/// It inspects the descriptors and children of the whole process, so other tests would disturb it.
public enum FeatureConformance {
    /// The folder of features that store nothing.
    public static let noFolder = "/nonexistent"

    /// The rules that the feature breaks, as sentences.
    ///
    /// - Parameters:
    ///   - feature: the feature under test.
    ///   - others: features that it needs.
    ///   - folder: the folder for all of the person's files; features that store something need a folder of the test.
    ///   - settings: the text of a settings file.
    ///   - environment: the environment variables.
    ///   - samples: arguments for actions, performed first and in this order. All other actions are performed with only
    ///     their required arguments.
    ///   - lasting: actions that run until they are cancelled, such as a server.
    ///   - texts: plain text parameters whose names suggest a file, a server or a secret, as `action.parameter`, each
    ///     with the reason why a grant need not decide about it.
    ///   - unfilled: screens that no sample can give something to show, each with the reason.
    ///   - limits: the time limits for starting and stopping.
    public static func violations(
        of feature: any Feature.Type, with others: [any Feature.Type] = [], in folder: String = noFolder,
        settings: String = "{}", environment: [String: String] = [:],
        doing samples: KeyValuePairs<String, JSONObject> = [:],
        lasting: Set<String> = [], texts: [String: String] = [:], unfilled: [String: String] = [:],
        limits: WorkbenchSession.Limits = .init()
    ) async throws -> [String] {
        var found: [String] = []
        let manifest = feature.manifest
        if manifest.summary.isEmpty || manifest.summary.hasSuffix(".") {
            found.append("the summary must be one line without a final stop")
        }
        let before = try await OpenDescriptors.settled()
        let test = try TestHost([feature] + others, settings: settings, folder: folder)
        found += test.composition.problems.map { "the composition is refused: \($0)" }
        if try await before.haveGrown() {
            found.append("making the feature opened a file, a socket or a pipe")
        }
        found += declarationViolations(manifest, test, texts)
        guard found.isEmpty else { return found }
        found += try await lifeViolations(manifest.id, test, limits, before)
        guard found.isEmpty else { return found }
        found += try await SessionConformance(
            manifest.id, [feature] + others, folder, environment, settings, samples, lasting: lasting
        )
        .violations(unfilled: Set(unfilled.keys))
        if found.isEmpty, folder != noFolder {
            guard let failing = failingFolder(in: folder) else {
                return ["\(folder)/failing cannot be made, so that the screens are not tried without a store"]
            }
            found += try await SessionConformance(
                manifest.id, [feature] + others, failing, environment, settings, samples, lasting: lasting
            )
            .violationsWithoutStores()
        }
        if try await before.haveGrown() { found.append("its actions left a file, a socket or a pipe open") }
        if ChildProcesses.exist() { found.append("its actions left a child process behind") }
        return found
    }

    /// A folder in which no store can be opened: files stand where its folders would be. Nil where none can be made.
    private static func failingFolder(in folder: String) -> String? {
        let failing = "\(folder)/failing"
        guard unsafe mkdir(failing, 0o700) == 0 || errno == EEXIST else { return nil }
        for name in ["data", "state", "cache"] {
            let descriptor = unsafe open("\(failing)/\(name)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return nil }
            close(descriptor)
        }
        return failing
    }

    private static func declarationViolations(_ manifest: Manifest, _ test: TestHost, _ texts: [String: String])
        -> [String]
    {
        var found: [String] = []
        for setting in manifest.settings where setting.summary.isEmpty || setting.summary.hasSuffix(".") {
            found.append("the setting \(setting.name) needs a summary without a final stop")
        }
        let actions = test.composition.registry.actions
        for action in actions.all where actions.owner(of: action) == manifest.id {
            for parameter in action.parameters where parameter.summary.isEmpty || parameter.summary.hasSuffix(".") {
                found.append("\(action.id): the parameter \(parameter.name) needs a summary without a final stop")
            }
            for parameter in action.parameters where parameter.namesSomething {
                if texts["\(action.id).\(parameter.name)"] != nil { continue }
                found.append(
                    "\(action.id): the text \(parameter.name) seems to name a file, a server or a secret; give it "
                        + "that type (ReadPath, WritePath, OwnPath, HostValue, SecretName), or list it with a reason"
                )
            }
            if case .record(let properties) = (action.result.element ?? action.result).unwrapped,
                Set(properties.map(\.name)).count != properties.count
            {
                found.append("\(action.id): the result has two members with the same name")
            }
            found += (action.events ?? []).flatMap { $0.violations.map { "\(action.id): the event \($0)" } }
            for example in action.examples
            where !example.command.hasPrefix("martlet ") && !example.command.contains("| martlet ") {
                found.append("\(action.id): the example '\(example.command)' must be a whole command line")
            }
        }
        return found
    }

    /// Stops before the start, starts and stops twice, and checks that nothing is left behind.
    private static func lifeViolations(
        _ id: String, _ test: TestHost, _ limits: WorkbenchSession.Limits, _ before: OpenDescriptors
    ) async throws -> [String] {
        var found: [String] = []
        func host() -> Host {
            let surroundings = Surroundings(
                environment: test.host.environment, locations: test.host.locations, clock: ContinuousClock(),
                now: test.host.now)
            return Host(
                name: test.host.name, version: test.host.version, surroundings: surroundings,
                settings: test.host.settings, catalogue: test.host.catalogue, composition: test.composition)
        }
        await Lifecycle(host: host(), limits: limits).stop()
        for round in 1...2 {
            let lifecycle = Lifecycle(host: host(), limits: limits)
            await lifecycle.start()
            if case .failed(let reason) = lifecycle.states[id] { found.append("start \(round) failed: \(reason)") }
            let stuck = await lifecycle.stop()
            if stuck.contains(id) { found.append("it did not end within the limit after being cancelled") }
        }
        if try await before.haveGrown() { found.append("it left a file, a socket or a pipe open") }
        if ChildProcesses.exist() { found.append("it left a child process behind") }
        return found
    }
}

extension EventDeclaration {
    /// The rules that it breaks, each as the rest of "the event …".
    fileprivate var violations: [String] {
        var found: [String] = []
        if summary.isEmpty || summary.hasSuffix(".") {
            found.append("\(type) needs a summary without a final stop")
        }
        if Set(members.map(\.name)).union(["type"]).count != members.count + 1 {
            found.append("\(type) has two members with the same name")
        }
        if let text, !members.contains(where: { $0.name == text }) {
            found.append("\(type) reads as \(text), which is not one of its members")
        }
        return found
    }
}

extension ParameterDeclaration {
    private static let telling: Set<String> = [
        "path", "paths", "file", "files", "folder", "folders", "directory", "host", "hosts", "address", "url", "server",
        "servers", "secret", "secrets", "key", "keys",
    ]

    /// Whether it is a text whose name or summary suggests that it names something.
    fileprivate var namesSomething: Bool {
        guard (schema.element ?? schema).unwrapped == .string else { return false }
        let words = "\(name) \(summary)".lowercased().split { !$0.isLetter }.map(String.init)
        return !Self.telling.isDisjoint(with: words)
    }
}

/// Performs a feature's actions as a long-lived session would: repeatedly, concurrently, after a change of settings,
/// and cancelled.
struct SessionConformance {
    private let feature: String
    private let test: TestHost
    private let samples: KeyValuePairs<String, JSONObject>
    private let settings: String
    private let lasting: Set<String>

    /// Even on a slow machine, a cancelled action has ended by then.
    private static let patience = Duration.seconds(60)

    init(
        _ feature: String, _ types: [any Feature.Type], _ folder: String, _ environment: [String: String],
        _ settings: String, _ samples: KeyValuePairs<String, JSONObject>, lasting: Set<String>
    ) throws {
        self.feature = feature
        self.settings = settings
        self.samples = samples
        self.lasting = lasting
        // Pauses take real time here, because nobody advances the clock.
        test = try TestHost(
            types.map { BuiltInFeature($0) }, settings: settings, environment: environment, folder: folder,
            clock: TestClock(), time: ContinuousClock())
    }

    /// - Parameter unfilled: the screens that no sample can give something to show.
    func violations(unfilled: Set<String>) async throws -> [String] {
        let actions = test.composition.registry.actions
        let screens = test.composition.registry.screens
        var found: [String] = []
        for (id, arguments) in samples {
            let screen = screens[id].flatMap { screens.owner(of: $0) == feature ? $0.declaration : nil }
            let own = actions.all.first { $0.id == id && actions.owner(of: $0) == feature }
            guard let action = own ?? screen else {
                found.append("the sample \(id) is not for one of its actions or screens")
                continue
            }
            found += action.problems(in: arguments).map { "the sample \(id): \($0)" }
        }
        for id in unfilled.sorted() where !ownScreens.contains(where: { $0.id == id }) {
            found.append("\(id) is listed as unfilled, but it is not one of its screens")
        }
        if found.isEmpty { found += await bareScreenViolations("before anything was stored") }
        let given = samples.map { ($0.key, $0.value) }.filter { actions[$0.0] != nil }
        let named = Set(given.map(\.0))
        let others = actions.all.filter { actions.owner(of: $0) == feature && !named.contains($0.id) }
        for (id, arguments) in given + others.map({ ($0.id, plainArguments(of: $0)) }) where found.isEmpty {
            found += try await violations(id, arguments)
        }
        if found.isEmpty { found += await screenViolations(unfilled: unfilled) }
        for stuck in await test.session.close() { found.append("\(stuck) was not closed in time after its actions") }
        return found
    }

    private func violations(_ id: String, _ arguments: JSONObject) async throws -> [String] {
        let output = RecordingOutput()
        let found = try await violations(id, arguments, output)
        let declared = test.composition.registry.actions[id]?.events ?? []
        // The same event is often sent many times.
        let problems = Set(
            output.events.flatMap { event in
                declared.problems(in: event.json).map { "\(id) sends \(event.type), but \($0)" }
            })
        return found + problems.sorted()
    }

    private func violations(
        _ id: String, _ arguments: JSONObject, _ output: RecordingOutput
    ) async throws -> [String] {
        let isReading = test.composition.registry.actions.all.first { $0.id == id }?.effect == .reads
        var found: [String] = []
        if lasting.contains(id) {
            try test.change(settings: settings)
            return await ends(id, arguments, output, cancelledAfter: 1000)
                ? [] : ["\(id) keeps running after it was cancelled"]
        }
        let first = await outcome(id, arguments, output)
        func expect(_ outcome: String, _ when: String) {
            // A writing action may find its work already done, but must not find a closed session or store.
            let isBroken = outcome.hasPrefix("host.") || outcome.hasPrefix("storage.")
            guard outcome != first, isReading || isBroken else { return }
            found.append("\(id) ends with \(outcome) \(when), but ended with \(first) the first time")
        }
        expect(await outcome(id, arguments, output), "the second time")
        let others = await withTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { await outcome(id, arguments, output) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for other in others { expect(other, "side by side with itself") }
        try test.change(settings: settings)
        expect(await outcome(id, arguments, output), "after a change of settings")
        for pause in [0, 1, 100] {
            guard await ends(id, arguments, output, cancelledAfter: pause) else {
                found.append("\(id) keeps running after it was cancelled")
                break
            }
        }
        expect(await outcome(id, arguments, output), "after it was cancelled")
        return found
    }

    // MARK: Screens

    private var ownScreens: [Screen] {
        let screens = test.composition.registry.screens
        return screens.all.filter { screens.owner(of: $0) == feature }
    }

    private func arguments(for screen: Screen) -> JSONObject {
        samples.first { $0.key == screen.id }?.value ?? plainArguments(of: screen.declaration)
    }

    private func screenViolations(unfilled: Set<String>) async -> [String] {
        var found: [String] = []
        for screen in ownScreens {
            let arguments = arguments(for: screen)
            let first = await shown(screen, arguments)
            for when in ["the second time", "after it was closed in the middle"] {
                let again = await shown(screen, arguments)
                if again != first {
                    found.append("\(screen.id) shows \(again) \(when), but showed \(first) the first time")
                }
                for pause in [0, 1, 100] where await !closes(screen, arguments, after: pause) {
                    return found + ["\(screen.id) stays open after it was cancelled"]
                }
            }
            if let violation = await fillViolation(of: screen, arguments, isListed: unfilled.contains(screen.id)) {
                found.append(violation)
            }
            found += await linkViolations(of: screen, arguments)
        }
        return found
    }

    /// What is wrong with the screens when no store can be opened.
    func violationsWithoutStores() async throws -> [String] {
        var found = await bareScreenViolations("when its store cannot be opened")
        for stuck in await test.session.close() { found.append("\(stuck) was not closed in time without a store") }
        return found
    }

    /// The faults of the screens while there is nothing to read. A screen may fail then, with a reason.
    private func bareScreenViolations(_ when: String) async -> [String] {
        var found: [String] = []
        for screen in ownScreens {
            let arguments = arguments(for: screen)
            if await shown(screen, arguments) == "unexpected" {
                found.append("\(screen.id) does not say what is wrong \(when)")
            }
            if await !closes(screen, arguments, after: 100) {
                found.append("\(screen.id) stays open after it was cancelled, \(when)")
            }
        }
        return found
    }

    /// What is wrong with a screen that has nothing to show although the samples were performed, or that has something
    /// although it is listed as `unfilled`.
    private func fillViolation(of screen: Screen, _ arguments: JSONObject, isListed: Bool) async -> String? {
        let lack: String?
        do {
            let isFull = try await test.open(screen.id, arguments) { view in try await view.block().hasContent() }
            lack = isFull ? nil : "empty"
        } catch {
            lack = "failing (\(AnyFailure(error).code))"
        }
        guard let lack else {
            return isListed ? "\(screen.id) is listed as unfilled, but was seen full; take it off the list" : nil
        }
        return isListed
            ? nil
            : "\(screen.id) was only seen \(lack); let a sample give it something to show, or list it with a reason"
    }

    /// What a screen shows first, in a word.
    private func shown(_ screen: Screen, _ arguments: JSONObject) async -> String {
        do {
            return try await test.open(screen.id, arguments) { view in
                for try await state in view.states {
                    switch state {
                    case .loading: continue
                    case .ready(let block): return "a \(block.json["type"]?.string ?? "block")"
                    case .failed(let failure, _): return failure.code
                    }
                }
                return "nothing"
            }
        } catch {
            return AnyFailure(error).code
        }
    }

    /// Whether it closes when it is cancelled after some turns of the scheduler.
    private func closes(_ screen: Screen, _ arguments: JSONObject, after pause: Int) async -> Bool {
        await endsInTime(cancelledAfter: pause) {
            do {
                try await test.open(screen.id, arguments) { view in
                    for try await _ in view.states {}
                }
            } catch {
                // It ends with an error, because it was cancelled.
            }
        }
    }

    /// The links and forms of a screen that lead nowhere, and the ids that it shows twice.
    private func linkViolations(of screen: Screen, _ arguments: JSONObject) async -> [String] {
        let registry = test.composition.registry
        let block: Block
        do {
            block = try await test.open(screen.id, arguments) { view in try await view.block() }
        } catch {
            return []
        }
        func violation(_ id: String, _ declaration: Action?, _ arguments: some Collection<String>) -> String? {
            guard let declaration else { return "\(screen.id) links to \(id), which does not exist" }
            let unknown = Set(arguments).subtracting(declaration.parameters.map(\.name))
            return unknown.isEmpty
                ? nil : "\(screen.id) gives \(id) the unknown argument \(unknown.sorted().joined(separator: ", "))"
        }
        let repeated = block.repeatedIDs.map { "\(screen.id) shows the id of \($0) twice" }
        let links = block.allLinks.compactMap { link in
            switch link.target {
            case .action(let id): violation(id, registry.actions[id], link.arguments.keys)
            case .screen(let id): violation(id, registry.screens[id]?.declaration, link.arguments.keys)
            }
        }
        return repeated + links
            + block.entryActions.compactMap { violation($0.id, registry.actions[$0.id], $0.arguments) }
    }

    /// Only the required arguments, with values that name nothing that exists. The outcome must be the same each time.
    private func plainArguments(of action: Action) -> JSONObject {
        var arguments: JSONObject = [:]
        for parameter in action.parameters where parameter.isRequired {
            arguments[parameter.name] = parameter.schema.plain(in: test.host.locations.current)
        }
        return arguments
    }

    /// The outcome of an action, in a word.
    private func outcome(_ id: String, _ arguments: JSONObject, _ output: RecordingOutput) async -> String {
        do {
            try await test.perform(id, arguments, isAgreed: true, output: output)
            return "a result"
        } catch {
            return AnyFailure(error).code
        }
    }

    /// Whether it ends after it is cancelled, at some number of scheduler turns.
    private func ends(
        _ id: String, _ arguments: JSONObject, _ output: RecordingOutput, cancelledAfter pause: Int
    ) async -> Bool {
        await endsInTime(cancelledAfter: pause) { _ = await outcome(id, arguments, output) }
    }

    private func endsInTime(
        cancelledAfter pause: Int, _ body: @escaping @Sendable () async -> Void
    ) async -> Bool {
        let (ends, continuation) = AsyncStream<Bool>.makeStream()
        let work = Task {
            await body()
            continuation.yield(true)
        }
        let alarm = Task {
            do { try await ContinuousClock().sleep(for: Self.patience) } catch { return }
            continuation.yield(false)
        }
        defer { alarm.cancel() }
        for _ in 0..<pause { await Task.yield() }
        work.cancel()
        for await hasEnded in ends { return hasEnded }
        return false
    }
}

extension Schema {
    /// A value of this shape that names nothing that exists.
    func plain(in folder: String) -> JSON {
        switch self {
        case .any, .string, .secret, .secretName, .program: "none"
        case .boolean: false
        case .integer(let range): .int(range?.lowerBound ?? 1)
        case .size(let range): .int(range?.lowerBound ?? 1)
        case .number(let range): .double(range?.lowerBound ?? 1)
        case .choice(let words): .string(words.first ?? "")
        case .path: .string("\(folder)/none")
        case .url: "http://127.0.0.1:1/"
        case .host: "127.0.0.1:1"
        case .duration: "1s"
        case .time: "2026-01-01T00:00:00Z"
        case .array(let element): [element.plain(in: folder)]
        case .map: [:]
        case .record(let properties):
            .object(
                properties.reduce(into: [:]) { object, property in
                    if case .optional = property.schema { return }
                    object[property.name] = property.schema.plain(in: folder)
                })
        case .optional: .null
        }
    }
}

/// The targets of the open descriptors, except the timers of the concurrency runtime.
struct OpenDescriptors {
    private let targets: Set<String>

    /// The open descriptors, once the runtime has opened those for its timers.
    static func settled() async throws -> OpenDescriptors {
        try await pause()
        return OpenDescriptors()
    }

    private init() {
        // The highest descriptor is expensive to find; a test process with more than this has another problem.
        targets = Set((0..<Int32(4096)).compactMap(Self.target))
    }

    /// Whether new descriptors stay open. Those that another thread opens briefly, or closes late on a busy machine,
    /// are gone at one of the later checks.
    func haveGrown() async throws -> Bool {
        var left = OpenDescriptors().targets.subtracting(targets)
        for _ in 0..<400 where !left.isEmpty {
            try await Self.pause()
            left.formIntersection(OpenDescriptors().targets)
        }
        return !left.isEmpty
    }

    private static func pause() async throws {
        try await ContinuousClock().sleep(for: .milliseconds(5))
    }

    /// The number and its target, because numbers are reused.
    private static func target(of descriptor: Int32) -> String? {
        guard fcntl(descriptor, F_GETFD) != -1 else { return nil }
        var text = [CChar](repeating: 0, count: 256)
        let length = unsafe readlink("/proc/self/fd/\(descriptor)", &text, text.count)
        guard length > 0 else { return nil }
        let target = String(decoding: text.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return target == "anon_inode:[timerfd]" ? nil : "\(descriptor) \(target)"
    }
}

/// The children of this process that have not been waited for.
enum ChildProcesses {
    static func exist() -> Bool {
        var info = unsafe siginfo_t()
        // WNOWAIT leaves the child to its owner.
        return unsafe waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0
    }
}
