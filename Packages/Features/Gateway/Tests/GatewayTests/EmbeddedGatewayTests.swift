import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import JSON
import Registry
import Synchronization
import Testing

@testable import Gateway

@Suite("The embedded gateway", .timeLimit(.minutes(5)), PersonTrait())
struct EmbeddedGatewayTests {
    /// The result of an answer.
    private struct Heard {
        var events: [ChatEvent] = []
        var answer: ChatAnswer?
        var told: [String] = []

        var calls: [ToolCall] {
            events.compactMap { if case .call(let call) = $0 { call } else { nil } }
        }
        var results: [ToolResult] {
            events.compactMap { if case .result(let result) = $0 { result } else { nil } }
        }
        var text: String {
            events.compactMap { if case .text(let text) = $0 { text } else { nil } }.joined()
        }
    }

    private func ask(
        _ words: String, in folder: String, session: String? = nil, answers: [String: JSON] = [:],
        isAlone: Bool = false, isHeadless: Bool = false,
        isKept: Bool = true, mode: ToolMode? = nil
    ) async throws -> Heard {
        let host = try TestHost([MemoryVault.self, PlannerFeature.self, GatewayFeature.self], folder: folder)
        // The gateway finds the built-in model through the composition, and does not keep it.
        defer { withExtendedLifetime(host) {} }
        let provider = try #require(
            host.composition.registry.all((any ModelProvider).self).first { $0.id == "martlet" })
        #expect(await provider.isAvailable())
        #expect(provider.runsTools)
        let model = try #require(try await provider.models().first)
        var request = ChatRequest(model: model.id, messages: [Message(.user, words)])
        if let session { request.extras["session_id"] = .string(session) }
        request.isKept = isKept
        request.mode = mode
        let context = host.context(
            asking: isHeadless ? HeadlessInteraction(answers: answers) : ChatResponder(answers: answers))
        let heard = Mutex(Heard())
        let answer = try await ActionContext.$current.withValue(isAlone ? nil : context) {
            try await provider.answer(request) { events in heard.withLock { $0.events += events } }
        }
        heard.withLock { heard in
            heard.answer = answer
            heard.told = host.output.notices
        }
        return heard.withLock { $0 }
    }

    /// A user with answers to some questions.
    private struct ChatResponder: Interaction {
        let answers: [String: JSON]
        var canAsk: Bool { !answers.isEmpty }
        func answer(_ question: Question) async throws -> Answer {
            try await HeadlessInteraction(answers: answers).answer(question)
        }
    }

    private func project(_ folder: String) throws {
        try write("def greet():\n    # TODO: be kind\n    return 'helo'\n", to: "\(folder)/greet.py")
    }

    @Test("Features of the same program see what it did, as an agent server and a catalogue of projects")
    func capability() async throws {
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let session = try #require(try await ask("find the TODOs", in: folder).answer?.start.session)
            let host = try TestHost([MemoryVault.self, PlannerFeature.self, GatewayFeature.self], folder: folder)
            defer { withExtendedLifetime(host) {} }
            let registry = host.composition.registry
            let server = try #require(registry.all((any AgentServer).self).first)
            let catalog = try #require(registry.all((any ProjectCatalog).self).first)
            #expect(server === catalog && server.server.name == "martlet")
            let found = try #require(try await server.session(session).value)
            #expect(found.isRunning == false && found.messages ?? 0 > 1)
            let project = try #require(try await catalog.projects().value?.rows.first)
            #expect(project.id == found.project && project.sessions == 1)
            #expect(try await server.toolServers(.all, project: project.id).value?.first?.id == "files")
            let content = try await server.readFile("greet.py", ofProject: project.id, in: nil).value
            #expect(content?.bytes.isEmpty == false)
            #expect(try await server.stop(session: session) == .value(AgentStop(wasRunning: false)))
        }
    }

    @Test("The embedded gateway uses tools in the folder of the command and reports every call with its result")
    func reads() async throws {
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let heard = try await ask("find the TODOs", in: folder)
            #expect(heard.text.contains("be kind"))
            #expect(!heard.calls.isEmpty)
            #expect(!heard.calls.contains { !$0.isDone })
            #expect(Set(heard.results.map(\.call)) == Set(heard.calls.map(\.id)))
            let answer = try #require(heard.answer)
            #expect(answer.message.text == heard.text)
            #expect(answer.start.session != nil && answer.start.project != nil)
            #expect(answer.usage.cost?.nanodollars == 0 && !answer.isUnapproved)
            guard case .began = heard.events.first else {
                Issue.record("it does not begin with who answers")
                return
            }
        }
    }

    @Test("Text after a tool call starts a new paragraph")
    func paragraphs() async throws {
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let heard = try await ask("find the TODOs, then list the files", in: folder)
            let parts = try #require(heard.answer).message.parts
            let pieces = parts.compactMap { if case .text(let text) = $0 { text } else { nil } }
            #expect(pieces.count > 1)
            #expect(!pieces.dropFirst().contains { !$0.hasPrefix("\n\n") })
            #expect(pieces.joined() == heard.text)
        }
    }

    @Test("The embedded gateway continues the given session and finds the folder's project again")
    func session() async throws {
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let first = try #require(try await ask("find the TODOs", in: folder).answer?.start)
            let second = try #require(
                try await ask("what can you do?", in: folder, session: first.session).answer?.start)
            #expect(second.session == first.session)
            let other = try #require(try await ask("what can you do?", in: folder, session: "gone").answer?.start)
            #expect(other.session != first.session)
            #expect(other.project == first.project)
        }
    }

    @Test("A notice says once that a folder has become a project and how to undo that")
    func newProject() async throws {
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let first = try await ask("what can you do?", in: folder)
            let told = first.told.filter { $0.contains("is now a project of the gateway") }
            let id = try #require(first.answer?.start.project)
            #expect(told.count == 1 && told[0].contains(id))
            #expect(try await ask("what can you do?", in: folder).told.isEmpty)
        }
    }

    @Test("An approval question shows the lines to change")
    func preview() async throws {
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let heard = try await ask(
                #"replace "helo" with "hello" in greet.py"#, in: folder, answers: ["chat.approve": "No"])
            let question = heard.told.first { $0.hasPrefix("The model wants to use ") } ?? ""
            #expect(
                question.contains("\n-    return 'helo'\n+    return 'hello'"), "\(question)")
        }
    }

    @Test("The user is asked before a write", arguments: [0, 1, 3])
    func asks(choice: Int) async throws {
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let options = [
                "Yes, this once", "Yes, in this conversation", "Yes, always in this folder", "No", "No, and say why",
            ]
            let heard = try await ask(
                #"replace "helo" with "hello" in greet.py"#, in: folder,
                answers: ["chat.approve": .string(options[choice])])
            let text = try read("\(folder)/greet.py")
            #expect(text.contains("'hello'") == (choice < 3), "\(heard.text) \(heard.results)")
            #expect(heard.answer != nil)
        }
    }

    @Test("The mode allows writes without a question, and the changes are shown")
    func modes() async throws {
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let edit = #"replace "helo" with "hello" in greet.py"#
            #expect(try await ask(edit, in: folder, mode: .readOnly).answer?.isUnapproved == true)
            let edited = try await ask(edit, in: folder, mode: .workspace)
            #expect(try read("\(folder)/greet.py").contains("'hello'") && edited.answer?.isUnapproved == false)
            #expect(edited.text.contains("+    return 'hello'"))
            let command = "run `touch ran`"
            #expect(try await ask(command, in: folder, mode: .workspace).answer?.isUnapproved == true)
            #expect(!Files.exists("\(folder)/ran"))
            #expect(try await ask(command, in: folder, mode: .full).answer?.isUnapproved == false)
            #expect(Files.exists("\(folder)/ran"))
        }
    }

    @Test("Nothing is written without a user", arguments: [false, true])
    func nobody(isAlone: Bool) async throws {
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let before = try read("\(folder)/greet.py")
            let heard = try await ask(#"replace "helo" with "hello" in greet.py"#, in: folder, isAlone: isAlone)
            #expect(try read("\(folder)/greet.py") == before)
            #expect(heard.answer?.isUnapproved == true)
        }
    }

    @Test("Answers given in advance count, and one that does not fit is reported")
    func given() async throws {
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let edit = #"replace "helo" with "hello" in greet.py"#
            let unfit = try await ask(edit, in: folder, answers: ["chat.approve": 3], isHeadless: true)
            #expect(unfit.answer?.hasUnfitApproval == true && unfit.answer?.isUnapproved == false)
            #expect(
                unfit.events.contains {
                    if case .notice(let text) = $0 { text.contains("must be one of") } else { false }
                })
            #expect(try read("\(folder)/greet.py").contains("'helo'"))
            let nobody = try await ask(edit, in: folder, answers: ["chat.model": "x"], isHeadless: true)
            #expect(nobody.answer?.isUnapproved == true && nobody.answer?.hasUnfitApproval == false)
            let yes = try await ask(edit, in: folder, answers: ["chat.approve": "Yes, this once"], isHeadless: true)
            #expect(yes.answer?.isUnapproved == false)
            #expect(try read("\(folder)/greet.py").contains("'hello'"))
        }
    }

    @Test("Nothing of an unsaved conversation is stored, however it ends", arguments: ["answer", "error", "cancel"])
    func unkept(end: String) async throws {
        struct Enough: Error {}
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let host = try TestHost([MemoryVault.self, PlannerFeature.self, GatewayFeature.self], folder: folder)
            let provider = try #require(host.composition.registry.all((any ModelProvider).self).first)
            var request = ChatRequest(model: "martlet-offline", messages: [Message(.user, "find the TODOs")])
            request.isKept = false
            let before = try Files.list(folder).map(\.name).sorted()
            switch end {
            case "answer":
                let first = try await provider.answer(request) { _ in }
                #expect(first.message.text.contains("be kind"))
                // In the same process the conversation continues.
                request.extras["session_id"] = try .string(#require(first.start.session))
                #expect(try await provider.answer(request) { _ in }.start.session == first.start.session)
            case "error":
                let asked = request
                await #expect(throws: Enough.self) { try await provider.answer(asked) { _ in throw Enough() } }
            default:
                let task = Task { [request] in
                    try await provider.answer(request) { _ in
                        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                        try Task.checkCancellation()
                    }
                }
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            #expect(try Files.list(folder).map(\.name).sorted() == before)
            #expect(try await host.perform("gateway.session.list").array?.isEmpty == true)
            #expect(try await host.perform("gateway.project.list").array?.isEmpty == true)
            #expect(try await host.perform("gateway.usage").array?.isEmpty == true)
        }
    }

    @Test("The rules of the folder's project apply to unsaved conversations too")
    func unkeptRules() async throws {
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let host = try TestHost([MemoryVault.self, PlannerFeature.self, GatewayFeature.self], folder: folder)
            _ = try await host.perform(
                "gateway.project.add", ["folder": .string(folder), "allow": ["*"]], isAgreed: true)
            let heard = try await ask(
                #"replace "helo" with "hello" in greet.py"#, in: folder, isAlone: true, isKept: false)
            #expect(try read("\(folder)/greet.py").contains("'hello'"), "\(heard.text) \(heard.results)")
            #expect(try await host.perform("gateway.session.list").array?.isEmpty == true)
        }
    }

    @Test("A failing reader ends the answer with its own error")
    func failingReader() async throws {
        struct Enough: Error {}
        try await TemporaryDirectory.run { folder in
            try project(folder)
            let host = try TestHost([MemoryVault.self, PlannerFeature.self, GatewayFeature.self], folder: folder)
            defer { withExtendedLifetime(host) {} }
            let provider = try #require(host.composition.registry.all((any ModelProvider).self).first)
            let request = ChatRequest(model: "martlet-offline", messages: [Message(.user, "find the TODOs")])
            await #expect(throws: Enough.self) { try await provider.answer(request) { _ in throw Enough() } }
        }
    }

    @Test("Without a built-in model the embedded gateway is not available and has no models")
    func withoutModel() async throws {
        try await TemporaryDirectory.run { folder in
            let host = try TestHost([MemoryVault.self, GatewayFeature.self], folder: folder)
            let provider = try #require(host.composition.registry.all((any ModelProvider).self).first)
            #expect(await provider.isAvailable() == false)
            #expect(try await provider.models().isEmpty)
            let request = ChatRequest(model: "martlet-offline", messages: [Message(.user, "find the TODOs")])
            await #expect {
                try await provider.answer(request) { _ in }
            } throws: { error in
                AnyFailure(error).code == "gateway.model-unavailable"
            }
        }
    }
}
