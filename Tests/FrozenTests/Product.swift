import Audit
import Auth
import Capabilities
import Chat
import CoreTesting
import Gateway
import HostKit
import MCP
import OfflineModel
import Registry
import Runner
import SSH
import ServeFrontend
import ShellFrontend
import Trace
import WorkspaceSupport

@testable import CommandLineFrontend

/// The whole product: every feature, and what the program on a command line adds to them.
enum Product {
    /// A person of whom nothing is known, on a machine where nobody has set anything.
    static let environment = ["HOME": "/home/ada", "PATH": "/usr/bin:/bin", "XDG_CONFIG_DIRS": "/nowhere"]

    /// A person who answers no question.
    static var person: Caller { .person(HeadlessInteraction()) }

    /// The product as `CommandLineProgram` composes it. Nothing is opened by that.
    static func workbench(_ environment: [String: String] = Product.environment) -> Workbench {
        Workbench(
            name: "martlet", version: "1.0",
            features: [
                BuiltInFeature(essential: CommandLineFeature.self), BuiltInFeature(essential: ScreenFeature.self),
                BuiltInFeature(essential: TerminalFeature.self),
                BuiltInFeature(AuditFeature.self), BuiltInFeature(AuthFeature.self), BuiltInFeature(ChatFeature.self),
                BuiltInFeature(GatewayFeature.self), BuiltInFeature(MCPFeature.self),
                BuiltInFeature(OfflineModelFeature.self), BuiltInFeature(RunnerFeature.self),
                BuiltInFeature(SSHFeature.self), BuiltInFeature(ServeFeature.self),
                BuiltInFeature(ShellFeature.self), BuiltInFeature(TraceFeature.self),
            ], environment: environment)
    }

    /// Lends a session of the product with a home that is empty, and removes the home at the end.
    static func withSession<Value: Sendable>(
        _ body: (WorkbenchSession, _ home: String) async throws -> Value
    ) async throws -> Value {
        try await TemporaryDirectory.run { folder -> Value in
            let home = ["HOME": folder, "MARTLET_HOME": "\(folder)/martlet", "PATH": "/usr/bin:/bin"]
            let session = workbench(home).open()
            let result: Result<Value, any Error>
            do { result = .success(try await body(session, folder)) } catch { result = .failure(error) }
            await session.close()
            return try result.get()
        }
    }
}
