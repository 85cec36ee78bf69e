import Capabilities
import CoreTesting
import FileKit
import GatewayStore
import Testing

@Suite("What is offered while typing")
struct OfferedTests {
    @Test("Projects, sessions and clients come with their meanings, and the database is not created for it")
    func offered() async throws {
        try await TemporaryDirectory.run { folder in
            let store = GatewayStore.open(folder)
            #expect(store.offeredProjects().isEmpty && store.offeredSessions().isEmpty)
            #expect(store.offeredClients().isEmpty)
            #expect(try Files.list(folder).isEmpty)
            let project = try await store.createProject(NewProject(name: "Sample", path: "/srv/sample"))
            let session = try await store.createSession(NewSession(project: project.id, title: "Tidy up", model: "m"))
            try await store.addClient(
                GatewayClient(name: "ci", scopes: [.chat, .read], created: Days.start), digest: [1])
            #expect(store.offeredProjects().map(\.word) == [project.id])
            #expect(store.offeredProjects().map(\.summary) == ["Sample, /srv/sample"])
            #expect(store.offeredSessions().map(\.word) == [session.id])
            #expect(store.offeredSessions().map(\.summary) == ["Tidy up"])
            #expect(store.offeredClients().map(\.word) == ["ci"])
            #expect(store.offeredClients().map(\.summary) == ["chat read"])
            await store.close()
        }
    }
}
