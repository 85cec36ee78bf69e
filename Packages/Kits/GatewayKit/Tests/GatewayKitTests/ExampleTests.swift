import Capabilities
import GatewayKit
import GatewayTesting
import HTTPClient
import HTTPCore
import Testing

@Suite("Example", .timeLimit(.minutes(1)))
struct ExampleTests {
    @Test("the example of the README works")
    func example() async throws {
        try await PlainGateway.run { server in
            let client = HTTPClient(.standalone)
            let gateway = try RemoteGateway(ServerID("lab"), at: HTTPURL(server.address), client: client)
            let project = try await gateway.createProject(NewAgentProject(name: "Site"))
                .required("projects", of: gateway.server)
            let session = try await gateway.createSession(NewAgentSession(project: project.id))
                .required("sessions", of: gateway.server)
            #expect(try await gateway.status(ofSession: session.id).value?.isRunning == false)
            // This server has no files, which is no error.
            #expect(try await !gateway.files(ofProject: project.id, AgentFileQuery()).isOffered)
            await client.close()
        }
    }
}
