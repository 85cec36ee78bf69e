import Capabilities
public import JSON
public import Registry
import Settings

/// What every feature must do, whatever it is for. Each package runs it on its own feature:
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
/// It looks at the descriptors and children of the whole process, which other tests would disturb.
public enum FeatureConformance {
    /// The rules that the feature breaks, as sentences.
    ///
    /// - Parameters:
    ///   - feature: the feature under test.
    ///   - others: features that it needs.
    ///   - folder: where everything of the person lies; one of the test's own for features that keep something.
    ///   - environment: the variables that its actions find.
    ///   - samples: arguments for actions, in the order in which they are done first. All others are done too, with nothing
    ///     but what they need.
    ///   - lasting: actions that go on until they are cancelled, such as a server.
    ///   - texts: parameters that are plain texts although they sound as if they named a file, a server or a secret, as
    ///     `action.parameter`, each with the reason why a grant need not decide about it.
    ///   - limits: how long it may take to start and to stop.
    public static func violations(
        of feature: any Feature.Type, with others: [any Feature.Type] = [], in folder: String = "/nonexistent",
        environment: [String: String] = [:], doing samples: KeyValuePairs<String, JSONObject> = [:],
        lasting: Set<String> = [], texts: [String: String] = [:], limits: WorkbenchSession.Limits = .init()
    ) async throws -> [String] {
        var found: [String] = []
        let manifest = feature.manifest
        if manifest.summary.isEmpty || manifest.summary.hasSuffix(".") {
            found.append("the summary must be one line without a final stop")
        }
        let before = try await OpenDescriptors.settled()
        let test = try TestHost([feature] + others, folder: folder)
        found += test.composition.problems.map { "the composition is refused: \($0)" }
        if try await before.haveGrown() {
            found.append("making the feature opened a file, a socket or a pipe")
        }
        found += declarationViolations(manifest, test, texts)
        guard found.isEmpty else { return found }
        found += try await lifeViolations(manifest.id, test, limits, before)
        guard found.isEmpty else { return found }
        found += try await SessionConformance(
            manifest.id, [feature] + others, folder, environment, samples, lasting: lasting
        )
        .violations()
        if try await before.haveGrown() { found.append("its actions left a file, a socket or a pipe open") }
        if ChildProcesses.exist() { found.append("its actions left a child process behind") }
        return found
    }

    private static func declarationViolations(_ manifest: Manifest, _ test: TestHost, _ texts: [String: String])
        -> [String]
    {
        var found: [String] = []
        for setting in manifest.settings where setting.summary.isEmpty || setting.summary.hasSuffix(".") {
            found.append("the setting \(setting.key.joined(separator: ".")) needs a summary without a final stop")
        }
        let actions = test.composition.registry.actions
        for action in actions.all where actions.owner(of: action) == manifest.id {
            for parameter in action.parameters where parameter.summary.isEmpty || parameter.summary.hasSuffix(".") {
                found.append("\(action.id): the parameter \(parameter.name) needs a summary without a final stop")
            }
            for parameter in action.parameters where parameter.namesSomething {
                if texts["\(action.id).\(parameter.name)"] != nil { continue }
                found.append(
                    "\(action.id): the text \(parameter.name) sounds as if it named a file, a server or a secret; give it "
                        + "their type (ReadPath, WritePath, OwnPath, HostValue, SecretName), or list it with a reason"
                )
            }
            if case .record(let properties) = (action.result.element ?? action.result).unwrapped,
                Set(properties.map(\.name)).count != properties.count
            {
                found.append("\(action.id): the result has two members of one name")
            }
            for example in action.examples
            where !example.command.hasPrefix("martlet ") && !example.command.contains("| martlet ") {
                found.append("\(action.id): the example '\(example.command)' must be a whole command line")
            }
        }
        return found
    }

    /// Stop before start, start and stop twice, and an end that leaves nothing behind.
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

extension ParameterDeclaration {
    private static let telling: Set<String> = [
        "path", "paths", "file", "files", "folder", "folders", "directory", "host", "hosts", "address", "url", "server",
        "servers", "secret", "secrets", "key", "keys",
    ]

    /// Whether it is a text that, by its name or its summary, leads somewhere.
    fileprivate var namesSomething: Bool {
        guard (schema.element ?? schema).unwrapped == .string else { return false }
        let words = "\(name) \(summary)".lowercased().split { !$0.isLetter }.map(String.init)
        return !Self.telling.isDisjoint(with: words)
    }
}
