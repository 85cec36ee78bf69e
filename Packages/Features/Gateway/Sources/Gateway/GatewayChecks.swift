import Capabilities
import GatewayTurns
import Registry
import SandboxKit
import ToolKit

/// What `doctor` asks about the gateway.
enum GatewayChecks {
    static func sandbox(_ services: GatewayServices) -> HealthCheck {
        HealthCheck("gateway.sandbox", "the sandbox for commands of models") { _ in
            let options = GatewaySettings.turns(services.settings, services.surroundings).shell
            guard options.isSandboxed else {
                return .warning(
                    "off: commands of models may do whatever you can",
                    mend: "run 'martlet config unset gateway.sandbox'")
            }
            do {
                if let problem = try await options.sandboxProblem() {
                    return .warning(problem.message, mend: SandboxError.mend)
                }
                return .ok("commands of models see the project's folder and the system's programs only")
            } catch {
                return .warning(AnyFailure(error).message, mend: "try again")
            }
        }
    }
}
