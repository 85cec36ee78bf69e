import Capabilities
import CoreTesting
import FileKit
import GatewayStore
import HTTPTesting
import JSON
import OfflinePlanner
import StorageKit
import Synchronization
import Testing
import TurnLoop

@testable import GatewayTurns

/// A gateway without HTTP, with a project in its own folder.
struct Workshop: Sendable {
    let folder: String
    let store: GatewayStore
    let turns: Turns
    let project: Project
    let log: RecordingAuditLog
    /// The rules kept for folders.
    var folders: FolderRecordFile { FolderRecordFile("\(folder)/state/folders.json") }

    /// Checks in the end that nothing is running and that the database is intact.
    static func run(
        _ models: (any ModelProvider)..., settings: TurnSettings = TurnSettings(), sources: [any ToolSource] = [],
        rules: [ApprovalRule] = [], budget: ProjectBudget = ProjectBudget(),
        clock: any Clock<Duration> = ContinuousClock(), now: (@Sendable () -> Timestamp)? = nil,
        tracer: Tracer? = nil, redactor: Redactor? = nil, _ body: (Workshop) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.run { folder in
            let days = Days()
            let now = now ?? { days.next }
            try Files.makeDirectories("\(folder)/project")
            try Files.writeAtomically(Array("one\ntwo // TODO: three\n".utf8), to: "\(folder)/project/notes.txt")
            let log = RecordingAuditLog(now: now)
            let store = GatewayStore(
                GatewayStore.database(at: "\(folder)/gateway.db"), without: redactor, audit: { log }, now: now)
            let project = try await store.createProject(
                NewProject(name: "Sample", path: "\(folder)/project", rules: rules, budget: budget))
            let turns = Turns(
                store: store, providers: { models }, builtIn: PlannerModel(), settings: settings,
                sources: { _, _ in sources },
                clock: clock, now: now, tracer: tracer, folders: FolderRecordFile("\(folder)/state/folders.json"))
            do {
                let workshop = Workshop(folder: folder, store: store, turns: turns, project: project, log: log)
                // Turns need a caller.
                try await Caller.$current.withValue(.person(HeadlessInteraction())) { try await body(workshop) }
            } catch {
                await turns.close()
                await store.close()
                throw error
            }
            await turns.close()
            #expect(turns.running == 0)
            #expect(try await store.stats().running == [])
            #expect(try await store.database.check() == [])
            await store.close()
        }
    }

    /// An agent turn in the project, or in a session.
    func input(_ text: String, session: String? = nil, canAsk: Bool = true, model: String = "") -> TurnInput {
        var input = TurnInput(ChatRequest(model: model, messages: [Message(.user, text)]), isAgent: true)
        input.session = session
        input.project = session == nil ? project.id : nil
        input.canAsk = canAsk
        return input
    }

    func say(
        _ text: String, session: String? = nil, canAsk: Bool = true, to heard: Heard = Heard()
    ) async throws -> TurnReport {
        try await turns.run(input(text, session: session, canAsk: canAsk)) { heard.receive($0) }
    }

    /// The history of the session, as short texts.
    func history(_ session: String) async throws -> [String] {
        try await store.messages(of: session).map { message in
            let results = message.parts.compactMap { if case .result(let result) = $0 { result.content } else { nil } }
            let calls = message.calls.map { "[\($0.name)]" }
            let words = ([message.text] + calls + results).filter { !$0.isEmpty }
            return "\(message.role.rawValue): \(words.joined(separator: " "))"
        }
    }

    /// The content of the project's file.
    func notes() throws -> String {
        String(decoding: try Files.read("\(project.path)/notes.txt", limit: 4096), as: UTF8.self)
    }

    func audit(_ session: String? = nil) async throws -> [AuditEntry] {
        try await store.auditEntries(session: session)?.items ?? []
    }
}

/// A clock that advances by one second with every read.
final class Days: Sendable {
    private let seconds = Mutex(0)

    var next: Timestamp {
        seconds.withLock { seconds in
            seconds += 1
            return Timestamp(microseconds: 1_795_253_400_000_000 + Int64(seconds) * 1000)
        }
    }
}

/// The reason of a gateway's error.
func refusal(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async throws -> GatewayError.Kind? {
    do {
        try await body()
        return nil
    } catch let error as GatewayError {
        return error.kind
    }
}

extension TurnOutcome.End {
    /// The part as a short text.
    var word: String {
        switch self {
        case .answered: "answered"
        case .stopped: "stopped"
        case .failed(let failure): failure.code
        case .roundLimit: "round limit"
        }
    }
}
