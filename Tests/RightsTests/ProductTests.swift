import Audit
import Auth
import Capabilities
import Chat
import CommandLineFrontend
import CoreTesting
import FileKit
import Gateway
import HTTPTesting
import HostKit
import JSON
import MCP
import OfflineModel
import Registry
import Runner
import SSH
import ServeFrontend
import Testing
import Trace

/// Every caller with every action, and every target in every form that a parameter can name it: the whole product, made
/// from the registry of all features, so that a new action is in it without being listed anywhere.
@Suite("Callers, targets and forms", .timeLimit(.minutes(10)))
struct ProductTests {
    /// Someone who may do less than the person.
    private struct Asker {
        let name: String
        let caller: Caller
        /// The same with the checks of targets switched off: the control of each refusal.
        let control: Grant
    }

    // sandbox cases 32, 34, 52, 53 and 79
    @Test("no caller but the person gets at what was not granted, whatever it is called")
    func refused() async throws {
        try await withSession { session, folder in
            let askers = Self.askers(in: folder)
            var (refusals, parameters) = (0, Set<String>())
            for action in session.newest.registry.actions.all {
                for (parameter, forms) in Self.targets(of: action, in: folder) {
                    parameters.insert("\(action.id) \(parameter)")
                    for form in forms {
                        let arguments = Self.arguments(of: action, parameter, form, in: folder)
                        let requests = Self.requests(
                            of: action, in: arguments, from: session.newest.host.locations.current)
                        for asker in askers {
                            let about = "\(asker.name): \(action.id) \(JSON.object(arguments).text())"
                            await Self.expectRefusal(about) {
                                try await session.perform(
                                    action.id, arguments, as: asker.caller, output: RecordingOutput(), isAgreed: true)
                            }
                            for request in requests { #expect(asker.control.decide(request).isAllowed, "\(about)") }
                            refusals += 1
                        }
                        for request in requests { #expect(Grant.person.decide(request).isAllowed) }
                    }
                }
            }
            // A product that became empty would be refused nothing.
            #expect(parameters.count >= 15, "\(parameters.sorted())")
            #expect(refusals > 1_000)
        }
    }

    @Test("a model, a client and code without a caller perform no action that is not offered to them")
    func unoffered() async throws {
        try await withSession { session, folder in
            let person = Caller.person(HeadlessInteraction())
            let callers: [(String, Grant, ActionOffer?)] = [
                ("model", .model, .models), ("nobody", .nobody, nil),
            ]
            for action in session.newest.registry.actions.all {
                let arguments = Self.arguments(of: action, "", .null, in: folder)
                for (name, grant, offer) in callers where action.offer != offer {
                    await Self.expectRefusal("\(name): \(action.id)") {
                        try await session.perform(
                            action.id, arguments, as: person.narrowed(by: grant), output: RecordingOutput(),
                            isAgreed: true)
                    }
                }
                // What changes what others may do is done neither by a token's client nor by a bundle with every effect.
                guard action.offer == .byName else { continue }
                let bundle = Grant(Grant.Layer(.bundle("b"), effects: .destroys, actions: ["*"], folders: nil))
                for grant in [bundle, .client("c", scopes: Set(ClientScope.allCases))] {
                    await Self.expectRefusal("\(action.id)") {
                        try await session.perform(
                            action.id, arguments, as: person.narrowed(by: grant), output: RecordingOutput(),
                            isAgreed: true)
                    }
                }
                let named = Grant(Grant.Layer(.bundle("b"), actions: [action.id], folders: nil))
                #expect(named.decide(.action(action.id, action.effect, action.offer)).isAllowed)
            }
        }
    }

    @Test("a model and code without a caller open no screen, and the person opens each of them")
    func screens() async throws {
        try await withSession { session, folder in
            let person = Caller.person(HeadlessInteraction())
            let screens = session.newest.registry.screens.all
            #expect(screens.count > 20)
            for screen in screens {
                let arguments = Self.arguments(of: screen.declaration, "", .null, in: folder)
                for (name, grant) in [("model", Grant.model), ("nobody", .nobody)] {
                    await #expect(throws: AccessFailure.self, "\(name): \(screen.id)") {
                        try await session.open(
                            screen.id, arguments, as: person.narrowed(by: grant), output: RecordingOutput()
                        ) { _ in }
                    }
                }
                // The body begins, whatever it then finds.
                try await session.open(screen.id, arguments, as: person, output: RecordingOutput()) { _ in }
            }
        }
    }

    @Test("each action says to whom it is offered, and these lists are the whole of it")
    func offers() async throws {
        try await withSession { session, _ in
            let actions = session.newest.registry.actions.all
            func ids(_ fits: (Action) -> Bool) -> [String] { actions.filter(fits).map(\.id).sorted() }
            #expect(ids { $0.offer == .models } == ["chat.list", "chat.search", "features", "version"])
            #expect(ids { $0.offer == .byName } == Self.byName)
            // A bundle may do these by its effects alone. Whoever adds an action decides about it here.
            #expect(ids { $0.offer == .bundles && $0.effect != .reads } == Self.writing)
            #expect(ids(\.sends) == Self.sending)
            // Whatever is given a server speaks to it, but for what looks up or changes what is known of one.
            let named = ids { action in action.parameters.contains { Self.kind(of: $0.schema) == .host } }
            #expect(
                named.filter { !Self.sending.contains($0) } == Self.unspoken)
        }
    }
}

// MARK: Who, what and how

extension ProductTests {
    private static func askers(in folder: String) -> [Asker] {
        let person = Caller.person(HeadlessInteraction())
        let root = FolderRoot(path: "\(folder)/allowed", canonical: "\(folder)/allowed", device: 0, inode: 0)
        func layer(_ name: String, isOpen: Bool) -> Grant {
            Grant(
                isOpen
                    ? Grant.Layer(
                        .bundle(name), effects: .destroys, actions: ["*"], folders: nil, secrets: nil, programs: nil)
                    : Grant.Layer(
                        .bundle(name), effects: .destroys, actions: ["*"],
                        hosts: .named(["allowed.test", "*.allowed.test"]),
                        folders: Grant.Folders(roots: [root], closed: ["\(folder)/home"]), secrets: ["allowed"],
                        programs: ["make"]))
        }
        let (open, narrow) = (layer("open", isOpen: true), layer("narrow", isOpen: false))
        let named = Grant(
            Grant.Layer(
                .bundle("star"), effects: .destroys, actions: ["*"], hosts: .named(["allowed.test"]),
                folders: Grant.Folders(roots: []), secrets: [], programs: []))
        return [
            Asker(name: "a bundle", caller: person.narrowed(by: narrow), control: open),
            Asker(
                name: "a bundle in a bundle", caller: person.narrowed(by: open).narrowed(by: narrow), control: open),
            Asker(
                name: "a bundle in a narrow one", caller: person.narrowed(by: narrow).narrowed(by: open), control: open),
            Asker(name: "a bundle without anything", caller: person.narrowed(by: named), control: open),
            Asker(name: "a model", caller: person.narrowed(by: .model), control: open),
            Asker(name: "nobody", caller: person.narrowed(by: .nobody), control: open),
        ]
    }

    private static let hosts = [
        "evil.test", "EVIL.test:443", "evil.test.", "http://evil.test/", "allowed.test.evil.test", "evilallowed.test",
        "127.0.0.1", "127.0.0.1:80", "localhost", "LOCALHOST.", "2130706433", "0177.0.0.1", "0x7f.1", "[::1]:80",
        "[::ffff:127.0.0.1]", "169.254.169.254", "http://allowed.test@evil.test/", "xn--evl-fla.test",
    ]
    private static let secrets = ["other", "allowed2", "ALLOWED", "allowed.token", "*"]
    private static let programs = ["sh", "/bin/sh", "make2", "./make", "../bin/make", "/tmp/make"]

    private static func paths(in folder: String) -> [String] {
        [
            "\(folder)/secret.txt", "\(folder)/allowed/../secret.txt", "allowed/../secret.txt", "./secret.txt",
            "\(folder)//allowed/.././secret.txt", "\(folder)/allowed-not/x", "/etc/passwd", "//etc//passwd",
            "/proc/self/environ", "/proc/self/root\(folder)/secret.txt", "\(folder)/allowed/../../etc",
            "\(folder)/home/config/config.json",
        ]
    }

    /// What a parameter of an action can name, in all forms.
    private static func targets(of action: Action, in folder: String) -> [(parameter: String, forms: [JSON])] {
        action.parameters.compactMap { parameter in
            guard let kind = kind(of: parameter.schema), !unspoken.contains(action.id) else { return nil }
            let forms: [String] =
                switch kind {
                case .host: hosts
                case .secretName: secrets
                case .program: programs
                default: paths(in: folder)
                }
            return (parameter.name, forms.map { wrapped(.string($0), as: parameter.schema) })
        }
    }

    private static func kind(of schema: Schema) -> Schema? {
        switch schema {
        case .host, .secretName, .program: schema
        case .path(let purpose) where purpose != .any: schema
        case .array(let inner), .optional(let inner), .map(let inner): kind(of: inner)
        default: nil
        }
    }

    private static func wrapped(_ value: JSON, as schema: Schema) -> JSON {
        switch schema {
        case .array(let inner): [wrapped(value, as: inner)]
        case .optional(let inner): wrapped(value, as: inner)
        case .map(let inner): ["name": wrapped(value, as: inner)]
        default: value
        }
    }

    /// The least that the action takes, with one parameter as given.
    private static func arguments(
        of action: Action, _ parameter: String, _ value: JSON, in folder: String
    ) -> JSONObject {
        var arguments = JSONObject()
        for declared in action.parameters {
            if declared.name == parameter {
                arguments[declared.name] = value
            } else if declared.isRequired {
                arguments[declared.name] = example(of: declared.schema, in: folder)
            }
        }
        return arguments
    }

    private static func example(of schema: Schema, in folder: String) -> JSON {
        switch schema {
        case .boolean: false
        case .integer(let range): .int(range?.lowerBound ?? 1)
        case .number(let range): .double(range?.lowerBound ?? 1)
        case .choice(let words): .string(words[0])
        case .path: .string("\(folder)/allowed/x")
        case .url, .host: "http://allowed.test/"
        case .duration: "1s"
        case .size(let range): .int(range?.lowerBound ?? 1)
        case .time: "2026-01-01T00:00:00Z"
        case .secretName: "allowed"
        case .program: "make"
        case .array(let inner): [example(of: inner, in: folder)]
        case .map, .record: [:]
        case .optional(let inner): example(of: inner, in: folder)
        case .any, .string, .secret: "word"
        }
    }

    private static func requests(of action: Action, in arguments: JSONObject, from folder: String) -> [GrantRequest] {
        action.parameters.flatMap { parameter in
            arguments[parameter.name].map { parameter.schema.requests(in: $0, from: folder) } ?? []
        }
    }

    /// Nothing but a refusal counts: a body that went on could have failed for any other reason.
    private static func expectRefusal(_ about: String, _ body: () async throws -> any OutputValue) async {
        do {
            let result = try await body().json.text()
            // Who asks how a gateway is gets the refusal as the reason why that is not known.
            if !about.contains("gateway.status") || !result.contains("down") { Issue.record("\(about) was done") }
        } catch is AccessFailure {
        } catch is ArgumentsFailure {
            // What is no value of its kind reaches no body either.
        } catch {
            let message = AnyFailure(error).message
            // What is read as an address only by the client is refused there, or is none at all.
            let isRefused =
                message.contains("may not connect to") || message.contains("it begins neither with http://")
                || message.contains("the URL contains a user name or password")
                || message.contains("it contains a user name or password")
            if !isRefused { Issue.record("\(about) failed with \(message)") }
        }
    }

    private func withSession(_ body: (WorkbenchSession, _ folder: String) async throws -> Void) async throws {
        try await TemporaryDirectory.run { folder in
            try Files.makeDirectories("\(folder)/allowed")
            try Files.writeAtomically(Array("secret".utf8), to: "\(folder)/secret.txt")
            let workbench = Workbench(
                name: "martlet", version: "1.0",
                features: [
                    BuiltInFeature(AuditFeature.self), BuiltInFeature(AuthFeature.self),
                    BuiltInFeature(ChatFeature.self), BuiltInFeature(GatewayFeature.self),
                    BuiltInFeature(MCPFeature.self), BuiltInFeature(OfflineModelFeature.self),
                    BuiltInFeature(RunnerFeature.self), BuiltInFeature(SSHFeature.self),
                    BuiltInFeature(ServeFeature.self), BuiltInFeature(TraceFeature.self),
                ],
                environment: ["HOME": folder, "MARTLET_HOME": "\(folder)/home", "PATH": "/usr/bin:/bin"])
            #expect(workbench.failure == nil)
            let session = workbench.open()
            try await body(session, folder)
            await session.close()
        }
    }
}

extension ProductTests {
    /// They name a server and speak to none.
    private static let unspoken = ["auth.trust.remove", "auth.trust.show"]

    private static let byName = [
        "audit.seal", "auth.login", "auth.logout", "auth.pat.create", "auth.pat.revoke", "auth.pat.rotate",
        "auth.secret.import",
        "auth.secret.passphrase", "auth.secret.remove", "auth.secret.set", "auth.server.add", "auth.server.remove",
        "auth.server.set", "auth.server.use", "auth.trust.add", "auth.trust.remove", "chat.disallow", "chat.run",
        "config.set",
        "config.trust", "config.unset", "config.untrust", "data.purge", "data.restore", "gateway.project.add",
        "gateway.project.remove", "gateway.serve", "gateway.token.create", "gateway.token.revoke", "gateway.token.show",
        "mcp.add", "mcp.disable", "mcp.enable", "mcp.gateway.use", "mcp.import", "mcp.install", "mcp.login",
        "mcp.logout", "mcp.remove",
        "mcp.replay",
        "mcp.serve",
        "mcp.serve.conversation", "mcp.serve.conversations", "mcp.test", "mcp.use", "run.install", "run.uninstall",
        "ssh.forward", "ssh.run",
        "ssh.trust", "trace.clear", "trace.serve",
    ]

    private static let writing = [
        "audit.export", "auth.secret.lock", "chat.delete", "chat.fork", "chat.import", "chat.picture", "chat.rename",
        "chat.rerun",
        "chat.restore",
        "chat.retry", "chat.send", "chat.use", "config.edit", "data.backup", "data.compact", "file.write",
        "gateway.stop", "http.request", "mcp.call",
        "run.start", "runs.cancel", "runs.prune", "shell.run", "ssh.test", "trace.export", "trace.import",
        "trace.send",
    ]

    private static let sending = [
        "auth.login", "auth.logout", "auth.pat.create", "auth.pat.list", "auth.pat.revoke", "auth.pat.rotate",
        "auth.server.add", "auth.server.check", "auth.trust.add", "auth.trust.verify", "auth.whoami", "chat.models",
        "chat.retry", "chat.send", "chat.use", "gateway.debug", "gateway.status", "http.request", "mcp.add", "mcp.call",
        "mcp.complete",
        "mcp.gateway.list", "mcp.gateway.tools", "mcp.gateway.use", "mcp.get", "mcp.install", "mcp.login", "mcp.ping",
        "mcp.prompts", "mcp.read", "mcp.resources", "mcp.test",
        "mcp.tools", "ssh.forward", "ssh.run", "ssh.test", "ssh.trust", "trace.send",
    ]
}
